#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The counter learns where memory is, it does not assume it: nodes of different
# sizes, one without memory, one in two parts beside the hole for devices.
# QEMU's number of a page is its address on the first node only.
set -u
. tests/vm/plugin/judged.sh
export NODES=2/384,1/1536,1/0,1/3072
judged uneven 3 5
nr=$((nr + 1))
differences=$(awk '/^memory/ && !/ pages 0$/ { print $6 }' "$report" | sort -u |
	wc -l)
if [ "$differences" -ge 3 ]; then
	echo "ok $nr - the number of a page differs from its address, by node"
else
	echo "not ok $nr - the number of a page differs from its address, by node"
	grep '^memory' "$report"
fi
echo "1..$nr"
