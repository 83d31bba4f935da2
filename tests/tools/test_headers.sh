#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# C and C++, gcc and clang must agree on the layout of every public struct: a
# program that prints size and offsets is made from the headers and says the
# same everywhere. Structs start with their own size where they can grow.
set -u
cd "$(dirname "$0")/../.." || exit 1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0

say() {
	nr=$((nr + 1))
	case $1 in not*) failed=$((failed + 1)) ;; esac
	echo "$1 $nr - $2"
}

# Each struct's members, as "struct member"; function pointers by their name.
# Comments go first, they may hold anything.
sed -Ez 's,/\*([^*]|\*+[^*/])*\*+/,,g' lib/include/lkdf/*.h | awk '
/^struct lkdf_[a-z_]* \{$/ { s = $2; next }
/^\};?$/ { s = "" }
# Parameters of a function on lines of their own.
rest { rest = !/;/; next }
s && /\(\*/ {
	rest = !/;/
	sub(/^[^(]*\(\*/, "")
	sub(/\).*/, "")
	print s, $0
	next
}
!s || !/;/ { next }
{
	gsub(/\[[^]]*\]/, "")
	sub(/;.*/, "")
	n = split($0, part, ",")
	for (i = 1; i <= n; i++) {
		sub(/^.*[ \t*]/, "", part[i])
		print s, part[i]
	}
}' >"$dir/members"

{
	echo '#include <lkdf/lkdf.h>'
	echo '#include <stddef.h>'
	echo '#include <stdio.h>'
	for h in lib/include/lkdf/*.h; do
		echo "#include <lkdf/$(basename "$h")>"
	done
	echo 'int main(void) {'
	awk '{
		if ($1 != last)
			printf "printf(\"%s %%zu\\n\", sizeof(struct %s));\n", \
				$1, $1
		last = $1
		printf "printf(\"%s.%s %%zu\\n\", offsetof(struct %s, %s));\n", \
			$1, $2, $1, $2
	}' "$dir/members"
	echo 'return 0; }'
} >"$dir/layout.c"

# one COMPILER ARGUMENTS...
one() {
	command -v "$1" >/dev/null || {
		nr=$((nr + 1))
		echo "ok $nr - $* # SKIP $1 is not installed"
		return
	}
	if ! "$@" -Wall -Wextra -Werror -Ilib/include "$dir/layout.c" \
		-o "$dir/layout" >"$dir/log" 2>&1 ||
		! "$dir/layout" >"$dir/got"; then
		say 'not ok' "all headers twice compile with $*"
		sed 's/^/# /' "$dir/log"
		return
	fi
	[ -f "$dir/want" ] || cp "$dir/got" "$dir/want"
	if diff "$dir/want" "$dir/got" >"$dir/log"; then
		say ok "the layout is the same with $*"
	else
		say 'not ok' "the layout is the same with $*"
		sed 's/^/# /' "$dir/log"
	fi
}

one gcc -std=c11
one g++ -std=c++17 -x c++
one clang -std=c11
one clang++ -std=c++17 -x c++

if [ "$(wc -l <"$dir/members")" -ge 60 ]; then
	say ok "$(wc -l <"$dir/members") members of structs are compared"
else
	say 'not ok' 'the members of structs are found'
fi
late=$(grep -E '^lkdf_[a-z_]+\.size [^0]' "$dir/want")
if [ -z "$late" ]; then
	say ok 'the size comes first in structs that have one'
else
	say 'not ok' 'the size comes first in structs that have one'
	echo "# $late"
fi
# A program's flags are not ours: each C++ header alone, whatever comes first.
alone() {
	g++ -std=c++20 -Wall -Wextra -Werror -Wshadow -Ilib/include \
		-fsyntax-only -x c++ -include "$1" /dev/null
}
bad=
for header in lib/include/lkdf/*.hpp; do
	alone "$header" >>"$dir/alone" 2>&1 || bad="$bad ${header##*/}"
done
if [ -z "$bad" ]; then
	say ok 'each C++ header compiles alone, and shadows nothing'
else
	say 'not ok' "headers that do not compile alone:$bad"
	sed 's/^/# /' "$dir/alone"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
