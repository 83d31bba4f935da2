#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A kernel that is locked down, as with Secure Boot, and then more: what of lkdf
# works there. VM_KERNEL takes another one.
set -u
build=${BUILD:-build}
here=$(dirname "$0")
test=$build/tests/vm/test_lockdown
if [ ! -x "$test" ]; then
	echo "1..0 # SKIP $test is not built: run it by make check-vm"
	exit 0
fi
why=$(mktemp)
"$here/vm.sh" --kernel "${VM_KERNEL:-6.12}" --nodes 2/256 \
	--append lockdown=integrity --timeout 120 \
	--keep "$build/vm/lockdown" -- './guest.sh 90 vm/test_lockdown' \
	"$here/guest.sh" "$build/lkdf" "$test:vm/test_lockdown" 2>"$why"
rc=$?
if [ $rc -eq 3 ]; then
	echo "1..0 # SKIP $(cat "$why")"
	rc=0
else
	cat "$why" >&2
fi
rm -f "$why"
exit $rc
