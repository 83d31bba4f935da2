#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What gcc and clang say of the mistakes of mistakes.txt: the text that names the
# fix, in few lines. Each compiler reads the headers once.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
table=tests/tools/mistakes.txt

cat >"$dir/all.hpp" <<'END'
#include <lkdf/lkdf.hpp>
#include <lkdf/algorithm.hpp>
#include <lkdf/co.hpp>
#include <lkdf/local.hpp>
#include <string>
#include <vector>
END
# One file for each mistake, by number, beside its line of the table.
awk -v to="$dir/" '
	/^#/ { next }
	/^== / {
		nr++
		print substr($0, 4) >(to "facts")
		next
	}
	sub(/^top /, "") { print >(to nr ".top"); next }
	{ print >(to nr ".body") }' "$table"

nr_facts=$(wc -l <"$dir/facts")
test "$nr_facts" -ge 30
ok $? "$nr_facts mistakes are compiled" "$dir/facts"

# program NR: $dir/program.cc
program() {
	{
		[ ! -e "$dir/$1.top" ] || cat "$dir/$1.top"
		echo 'void body(lk::runtime &rt, lk::graph &g);'
		echo 'void body(lk::runtime &rt, lk::graph &g) { (void)rt; (void)g;'
		cat "$dir/$1.body"
		echo '}'
	} >"$dir/program.cc"
}

# headers COMPILER: read once
headers() {
	case $1 in
	clang*) "$1" -std=c++20 -Wall -Wextra -Ilib/include -x c++-header \
		-o "$dir/all.pch" "$dir/all.hpp" ;;
	*) "$1" -std=c++20 -Wall -Wextra -Ilib/include -x c++-header \
		-o "$dir/all.hpp.gch" "$dir/all.hpp" ;;
	esac >"$dir/log" 2>&1
}

# says COMPILER: of $dir/program.cc, to $dir/log
says() {
	case $1 in
	clang*) set -- "$1" -include-pch "$dir/all.pch" ;;
	*) set -- "$1" -include "$dir/all.hpp" ;;
	esac
	"$@" -std=c++20 -Wall -Wextra -Ilib/include -fsyntax-only \
		"$dir/program.cc" >"$dir/log" 2>&1
	[ -s "$dir/log" ]
}

# How many lines that is, without the list of headers that lead to the place.
told() {
	grep -vcE '^In file included|^ +from |generated\.$' "$dir/log"
}

# trim WORDS: without blanks at either end
trim() {
	printf '%s\n' "$1" | sed 's/^ *//; s/ *$//'
}

# mistakes COMPILER NAME
mistakes() {
	if ! command -v "$1" >/dev/null; then
		skip "mistakes, with $2" "$1 is not installed"
		return
	fi
	headers "$1"
	ok $? "$2 compiles the headers without an error"
	at=0
	while IFS='|' read -r fact text lines only; do
		at=$((at + 1))
		only=$(trim "$only")
		[ -z "$only" ] || [ "$only" = "$2" ] || continue
		program $at
		says "$1" && grep -qE "$(trim "$text")" "$dir/log" &&
			[ "$(told)" -le "$lines" ]
		ok $? "$2 tells of $(trim "$fact"), in$lines lines at most"
	done <"$dir/facts"
}

mistakes "${GXX:-g++}" gcc
mistakes "${CLANGXX:-clang++}" clang

# A program without a mistake has no warning, so that the texts are the mistakes'.
echo '(void)rt.async(lk::with("add"), [](int v) { return v; }, 1).get();' \
	>"$dir/0.body"
for compiler in "${GXX:-g++}" "${CLANGXX:-clang++}"; do
	command -v "$compiler" >/dev/null || continue
	program 0
	! says "$compiler"
	ok $? "$compiler says nothing of a program without a mistake"
	echo 'int main() {}' >"$dir/main.cc"
	! "$compiler" -std=c++17 -fno-exceptions -Ilib/include \
		-include lkdf/error.hpp -fsyntax-only "$dir/main.cc" \
		>"$dir/log" 2>&1 &&
		grep -q 'compile without -fno-exceptions' "$dir/log"
	ok $? "$compiler: without exceptions the headers say what to do"
done
echo "1..$nr"
exit $failed
