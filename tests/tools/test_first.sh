#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of Documentation/first.rst, taken from the page as they stand there:
# each compiles without a warning and prints what the page says next.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh

# Each literal block of the page as a file: $dir/block.1 and so on. A block ends
# where a line of text begins.
awk -v to="$dir/block." '
	/^\t/ { nr += !on; on = 1; sub(/^\t/, ""); print >(to nr); next }
	/^$/ && on { print >(to nr); next }
	{ on = 0 }' Documentation/first.rst

programs=0
at=1
while [ -e "$dir/block.$at" ]; do
	block=$dir/block.$at
	at=$((at + 1))
	grep -q '^int main' "$block" || continue
	programs=$((programs + 1))
	mv "$block" "$dir/first.cc"
	[ "$(wc -l <"$dir/first.cc")" -le 35 ]
	ok $? "program $programs has at most 35 lines"
	compile "$dir/first.cc"
	ok $? "program $programs compiles without a warning"
	[ -x "$dir/program" ] || continue
	sed '/^$/d' "$dir/block.$at" >"$dir/want"
	run "program $programs prints what the page says" LKDF_TRACE=
	run "program $programs prints that with one worker" LKDF_WORKERS=1
	run "program $programs prints that with four workers" LKDF_WORKERS=4
	run "program $programs prints that on one thread" LKDF_SERIAL=yes
done
[ "$programs" -eq 5 ]
ok $? "the page has five programs"
echo "1..$nr"
[ "$failed" -eq 0 ]
