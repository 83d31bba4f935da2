#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Option check, with the plain library and a program with -fsanitize=thread: each
# race of check_races.c is found in one run, and is gone with the order given.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
program=$dir/check_races

# A sanitizer wants its own layout of addresses.
no_random=
setarch -R true 2>/dev/null && no_random=1

# compile COMPILER
compile() {
	$1 -g -O1 -Wall -Wextra -fsanitize=thread -o "$program" \
		tests/tools/check_races.c -Ilib/include -L"$build" -llkdf \
		-Wl,-rpath,"$build" >"$dir/log" 2>&1
}

# check NAME 0|1
check() {
	LKDF_CHECK=yes timeout -k 5 60 ${no_random:+setarch -R} "$program" "$@" \
		>"$dir/got" 2>&1
}

# rows COMPILER
rows() {
	for name in $("$program"); do
		check "$name" 0
		rc=$?
		[ $rc -eq 66 ] && grep -q 'ThreadSanitizer: data race' "$dir/got"
		ok $? "$1: the race of $name is found" "$dir/got"
		check "$name" 1
		rc=$?
		[ $rc -eq 0 ] && ! grep -q ThreadSanitizer "$dir/got"
		ok $? "$1: $name with the order given is silent" "$dir/got"
	done
}

nr_compilers=0
for cc in gcc clang; do
	command -v $cc >/dev/null || continue
	compile $cc || continue
	nr_compilers=$((nr_compilers + 1))
	rows $cc
	# Which bodies and runs are named
	check edge 0
	grep -q "'task \"read#1\" of graph \"g\", kind \"read\"'" "$dir/got"
	ok $? "$cc: a report names task, graph and kind" "$dir/got"
	check own_memory 1
	rc=$?
	[ $rc -eq 0 ]
	ok $? "$cc: 600 bodies share 240 fibers, and are silent" "$dir/got"
	for seed in 1 2 3; do
		LKDF_ORDER=$seed check value 1
		ok $? "$cc: seed $seed is silent, too" "$dir/got"
	done
done
[ $nr_compilers -gt 0 ] ||
	skip "races of a program" "no compiler here has -fsanitize=thread"

# A program without a sanitizer goes on, and one line says so.
${CC:-cc} -g -o "$program" tests/tools/check_races.c -Ilib/include -L"$build" \
	-llkdf -Wl,-rpath,"$build" >"$dir/log" 2>&1
LKDF_CHECK=yes timeout -k 5 60 "$program" edge 0 >"$dir/got" 2>&1
rc=$?
[ $rc -eq 0 ] && grep -qx 'lkdf: error: check: the program has no thread sanitizer: compile and link it with -fsanitize=thread' "$dir/got"
ok $? "a program without a sanitizer runs, and is told of it" "$dir/got"

echo "1..$nr"
exit $failed
