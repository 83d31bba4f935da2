#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The loop that bodies of a bench compute in is one and the same for all
# contestants: the same bytes, on a cache line of its own. Programs of peers
# that are not built are left out.
set -u
build=${BUILD:-build}
nr=0
failed=0

ok() {
	nr=$((nr + 1))
	[ "$1" -eq 0 ] && echo "ok $nr - $2" && return
	echo "not ok $nr - $2"
	failed=$((failed + 1))
}

# The instructions of work_for() in a program, without addresses.
loop_of() {
	objdump -d --no-addresses --disassemble=work_for "$1" |
		sed -n '/<work_for>:$/,/^$/p' | sed 's/[0-9a-f]* <work_for/<work_for/'
}

if ! command -v objdump >/dev/null || ! command -v nm >/dev/null; then
	echo "1..0 # skip no objdump and nm"
	exit 0
fi
want=$(loop_of "$build/lkdf")
[ "$(echo "$want" | wc -l)" -gt 5 ]
ok $? 'lkdf has the loop in a function of its own'
for program in "$build/lkdf" "$build"/tests/bench/peer_*; do
	[ -x "$program" ] || continue
	at=$(nm "$program" | sed -n 's/ [tT] work_for$//p')
	case $program in
	*/lkdf | *_control | */peer_tbb | */peer_taskflow) ;;
	*) [ -n "$at" ] || continue ;;
	esac
	name=$(basename "$program")
	case $at in
	*[048c]0) ok 0 "$name: on a cache line of its own" ;;
	*) ok 1 "$name: on a cache line of its own, at $at" ;;
	esac
	[ "$(loop_of "$program")" = "$want" ]
	ok $? "$name: the same instructions"
done
echo "1..$nr"
[ "$failed" -eq 0 ]
