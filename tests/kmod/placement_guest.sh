#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# In the machine: every row of lkdf bench placement has a value and a ratio. A
# bar that is missed or not resolved is no failure: the machine has no KVM. The
# numbers are said as comments. PLACEMENT_ARGS: of the bench.
set -u
rows='node_of refresh-all refresh-one query move_pages numa_maps mover'
nr=0

say() {
	nr=$((nr + 1))
	echo "$1 $nr - $2"
}

# shellcheck disable=SC2086
./lkdf bench placement --quiet --out placement.json ${PLACEMENT_ARGS-} >text 2>&1
rc=$?
sed 's/^/# /' text
case $rc in
0 | 1) say ok 'the bench ends' ;;
*) say 'not ok' "the bench ends: $rc" ;;
esac
for size in 4KiB 2MiB; do
	for row in $rows; do
		line=$(grep "\"name\": *\"$size/$row\"" placement.json)
		case $line in
		*'"value": '[0-9]*'"ratio": '[0-9]*)
			say ok "$size/$row is measured" ;;
		*)
			say 'not ok' "$size/$row is measured"
			echo "# $line"
			;;
		esac
	done
done
if grep -q 'no /dev/lkdf' text; then
	say 'not ok' 'the device is used'
else
	say ok 'the device is used'
fi
echo "1..$nr"
