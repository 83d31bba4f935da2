#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Each check must be able to fail: a tiny tree passes, then one violation at a
# time is planted in a fresh copy of it and the check must name file and line.
# A check whose tool is absent is skipped here as it is there.
set -u
cd "$(dirname "$0")/../.." || exit 1
top=$(pwd)
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export GIT_CEILING_DIRECTORIES="$dir" BUILD=build
nr=0
failed=0

say() {
	nr=$((nr + 1))
	[ "$1" = ok ] || failed=$((failed + 1))
	echo "$1 $nr - $2"
}

# plant CHECK FACT EXPECTED COMMAND: after COMMAND the check's output has a
# line that matches EXPECTED.
plant() {
	rm -rf "$dir/tree"
	cp -a "$dir/clean" "$dir/tree"
	(cd "$dir/tree" && eval "$4") || {
		say 'not ok' "$2: the violation cannot be planted"
		return
	}
	"$dir/tree/tests/lint/lint.sh" "$1" >"$dir/out" 2>&1
	if grep -q '^ok .*# SKIP' "$dir/out"; then
		say ok "$2 # SKIP $(sed -n 's/.*# SKIP //p' "$dir/out")"
	elif grep -q '^not ok' "$dir/out" && grep -qE "^# $3" "$dir/out"; then
		say ok "$2"
	else
		say 'not ok' "$2"
		echo "# $1 says, expected $3:"
		sed 's/^/# /' "$dir/out"
	fi
}

# text FILE: stdin behind the two lines that every file has
text() {
	mkdir -p "$(dirname "$1")"
	{
		echo '/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */'
		cat
	} >"$1"
}

# row NAME FIELDS: a mechanism, and a table that does not list it
row() {
	printf 'const struct mechanism %s_mechanism = {\n\t.name = "%s",\n%s};\n' \
		"$1" "$1" "$2" | text "lib/mechanism/$1/$1.c"
	echo | text lib/mechanism/rows.h
}

tree() {
	mkdir -p tests/lint LICENSES
	cp -a "$top"/tests/lint/*.sh "$top"/tests/lint/*.py \
		"$top"/tests/lint/*.words tests/lint/
	cp -a "$top"/LICENSES/LGPL-2.1-only.txt \
		"$top"/LICENSES/BSD-2-Clause.txt LICENSES/
	cp -a "$top/.clang-format" .
	mkdir -p lib/base
	cp -a "$top/lib/base/atomic.h" lib/base/
	echo 'LKDF_0 { global: lkdf_one; local: *; };' >lib/lkdf.map
	text lib/include/lkdf/base.h <<'END'
#ifndef LKDF_BASE_H
#define LKDF_BASE_H
#ifdef __cplusplus
extern "C" {
#endif

/**
 * lkdf_one() - adds one
 * @x: number
 *
 * Return: the next number.
 */
int lkdf_one(int x);

#ifdef __cplusplus
}
#endif
#endif
END
	text lib/api/one.c <<'END'
#include <lkdf/base.h>

#include "task/task.h"

int lkdf_one(int x)
{
	return x + TASK;
}
END
	text lib/task/task.h <<'END'
#define TASK 1
END
	text lib/sched/park.h <<'END'
int park(void);
END
	text lib/sched/park.c <<'END'
#include "sched/park.h"

#include "base/atomic.h"

static const int table[] = { 1, 2 };

int park(void)
{
	static const char *const names[] = { "a", "b" };
	_Atomic(int) word = table[0];

	/* [park.set] we are seen before we look; pairs with [park.get] */
	a_store(&word, names[0][0], release);
	/* [park.get] whoever sees the word sees what was before */
	return a_load(&word, acquire);
}
END
	text tools/main.c <<'END'
#include <lkdf/base.h>

int main(void)
{
	return lkdf_one(-1);
}
END
}

mkdir "$dir/clean"
(cd "$dir/clean" && tree)
if "$dir/clean/tests/lint/lint.sh" >"$dir/out" 2>&1; then
	say ok 'a tree without violations passes'
else
	say 'not ok' 'a tree without violations passes'
	sed 's/^/# /' "$dir/out"
fi

# shellcheck source=/dev/null
. tests/lint/selftest.cases
echo "1..$nr"
[ "$failed" -eq 0 ]
