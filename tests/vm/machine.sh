#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# machine.sh NAME [option of vm.sh...]: runs the programs of VM_GUEST in such a
# machine and says TAP. VM_KERNEL takes another kernel than the machine's,
# VM_TIMEOUT other seconds than 900 for all programs together. What the kernel
# and the programs said stays in $BUILD/vm/NAME.
set -u
name=$1
shift
build=${BUILD:-build}
here=tests/vm
[ -z "${VM_KERNEL-}" ] || set -- "$@" --kernel "$VM_KERNEL"

# Each file under the name of its part, without its room: unit/test_deque.
guest() {
	for f in ${VM_GUEST-}; do
		part=${f#"$build"/tests/}
		part=${part%%/*}/${part##*/}
		echo "$f:$part"
	done
}

if [ -z "${VM_GUEST-}" ]; then
	echo "1..0 # SKIP VM_GUEST is empty: run it by make check-vm"
	exit 0
fi
# What make tour needs, and its test.
tour="tools/report:tools/report $here/test_tour.sh:vm/test_tour"
for f in cholesky convoy guide/sums; do
	tour="$tour $build/examples/$f:examples/$f"
done
why=$(mktemp)
# shellcheck disable=SC2046,SC2086
"$here/vm.sh" "$@" --timeout "${VM_TIMEOUT:-900}" --quiet 220 \
	--keep "$build/vm/$name" -- \
	'./guest.sh 180 vm/test_* unit/test_* api/test_*' \
	"$here/guest.sh" "$build/lkdf" "$build/liblkdf-malloc.so" \
	tests/fixtures:tests/fixtures $tour $(guest) 2>"$why"
rc=$?
if [ $rc -eq 3 ]; then
	echo "1..0 # SKIP $(cat "$why")"
	rc=0
else
	cat "$why" >&2
fi
rm -f "$why"
exit $rc
