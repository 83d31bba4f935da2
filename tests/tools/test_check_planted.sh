#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf check finds each planted race of check_forms.c, check_ways.c and check_lang.cc
# in one run, and each planted bug of check_bugs.c, whose output depends on the order,
# in $orders orders; it is silent where the program is right. CHECK_SHARE=I/N takes
# every Nth of them.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
orders=20

# has_tsan COMPILER
has_tsan() {
	command -v "$1" >/dev/null && echo 'int main(void) { return 0; }' |
		"$1" -fsanitize=thread -x c - -o "$dir/empty" 2>"$dir/log"
}

# compile COMPILER SOURCE [FLAG...]: the program is $dir/NAME
compile() {
	name=${2##*/}
	name=${name%.*}
	cc=$1 source=$2
	shift 2
	"$cc" -g -O1 -D_GNU_SOURCE -I. -Wall -Wextra "$@" -o "$dir/$name" \
		"$source" -Ilib/include -L"$build" -llkdf -lpthread \
		-Wl,-rpath,"$build" >"$dir/log" 2>&1
	ok $? "$cc: $name compiles"
}

# check ARGUMENT...: of lkdf check
check() {
	"$limit" 120 "$build/lkdf" check "$@" >"$dir/out" 2>"$dir/got"
	rc=$?
}

# rows PROGRAM: those of them that are ours
rows() {
	"$dir/$1" | tr ' ' '\n' | awk -v share="${CHECK_SHARE:-0/1}" '
		BEGIN { split(share, s, "/") } NF && n++ % s[2] == s[1]'
}

# races COMPILER NAME: of each row of a program
races() {
	for row in $(rows "$2"); do
		check -- "$dir/$2" "$row" 0
		[ $rc -eq 1 ] && grep -q '^lkdf check: race: ' "$dir/got"
		ok $? "$1: the race of $row is found" "$dir/got"
		check -- "$dir/$2" "$row" 1
		[ $rc -eq 0 ] && ! grep -q 'race: ' "$dir/got"
		ok $? "$1: $row is silent where it is right" "$dir/got"
	done
}

# README's program, where each block adds to one variable.
if has_tsan g++; then
	fenced cpp 1 | sed '/long nr = rt.reduce/c\
	long nr = 0;\
	rt.for_each(0, 2000000, [\&](size_t n) {
		s/return sum + is_prime/nr += is_prime/' >"$dir/racy.cc"
	compile g++ "$dir/racy.cc" -std=c++17 -fsanitize=thread
	check -- "$dir/racy"
	fenced console 2 | grep '^lkdf check: ' | sed 's/at racy/at .*racy/' >"$dir/said"
	[ "$(wc -l <"$dir/said")" -eq 2 ] &&
		[ "$(grep -cxf "$dir/said" "$dir/got")" -eq 2 ]
	ok $? "the race of README is found, as README says" "$dir/got"
else
	skip "the race of README" "g++ has no thread sanitizer"
fi

# One compiler: test_check.sh has all of them.
for cc in "${CC:-gcc}" gcc clang none; do
	has_tsan "$cc" && break
done
if [ "$cc" = none ]; then
	skip "races of a program" "no compiler here has -fsanitize=thread"
else
	for name in check_forms check_ways; do
		compile "$cc" "tests/tools/$name.c" -fsanitize=thread
		races "$cc" "$name"
	done
fi
if has_tsan g++; then
	compile g++ tests/tools/check_lang.cc -std=c++20 -fsanitize=thread
	races g++ check_lang
else
	skip "races in C++" "g++ has no thread sanitizer"
fi

compile "${CC:-cc}" tests/tools/check_bugs.c
for row in $(rows check_bugs); do
	check --orders $orders -- "$dir/check_bugs" "$row" 0
	[ $rc -eq 1 ] && grep -qE '^lkdf check: (LKDF_ORDER=|deadlock)' "$dir/got"
	ok $? "$row: an order with another outcome is found" "$dir/got"
	check --orders $orders -- "$dir/check_bugs" "$row" 1
	[ $rc -eq 0 ] && grep -q "$orders orders have one outcome" "$dir/got"
	ok $? "$row: all orders have one where it is right" "$dir/got"
done

echo "1..$nr"
exit $failed
