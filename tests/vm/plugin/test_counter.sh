#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The access counter is exact: known loops on every CPU over memory of every
# node, and all sorts of accesses; then the judge itself, which must refuse
# reports that are wrong by one byte, one access or one pair.
set -u
. tests/vm/plugin/judged.sh
judged counter 4 8

# refuses TEXT SED: the report changed so is refused.
refuses() {
	nr=$((nr + 1))
	sed "$2" "$report" >"$wrong"
	if cmp -s "$report" "$wrong" || "$judge" "$wrong" 4 8 >"$why"; then
		echo "not ok $nr - $1"
	else
		echo "ok $nr - $1"
	fi
}

refuses "a byte too many is seen" \
	'/^cell data 3 1 /s/ 524288 / 524289 /'
refuses "an access too few is seen" \
	'/^cell data 2 2 /s/ 65536$/ 65535/'
refuses "bytes in another cell are seen" \
	's/^cell data 0 3 524288/cell data 0 2 524288/'
refuses "bytes of no known node are seen" \
	's/^cell data 1 2 /cell data 1 -1 /'
refuses "bytes that nobody expects are seen" \
	'/^label pair cpu5 node0/a cell data 1 1 8 1'
refuses "a page on another node is seen" \
	'/^label pair cpu4 node1/,/^note pages/s/wrong 0/wrong 1/'
refuses "a pair that was not tried is seen" \
	'/^label pair cpu7 node3/,/^note pages/d'
echo "1..$nr"
