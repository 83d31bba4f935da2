#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# machine.sh NAME KERNEL [option of tests/vm/vm.sh...]: builds the module for
# that kernel, which must say no warning, boots a machine and runs the programs
# of KMOD_GUEST there. Says TAP. KMOD_COMMAND runs something else there,
# KMOD_TIMEOUT other seconds than 400. Without a kernel or its headers the test
# is skipped.
# What was said stays in $BUILD/vm/NAME.
set -u
name=$1 kernel=$2
shift 2
build=${BUILD:-build}
here=tests/kmod
why=$(mktemp)
trap 'rm -f "$why"' EXIT

skip() {
	echo "1..0 # SKIP $(tail -n 1 "$why")"
	exit 0
}

fail() {
	sed 's/^/# /' "$why"
	echo "not ok 1 - $1"
	echo "1..1"
	exit 1
}

headers=$("$here/headers.sh" "$kernel" 2>"$why") || skip
# With the kernel's further warnings, and sparse where there is one.
strict='W=1'
! command -v sparse >/dev/null || strict='W=1 C=2'
make --no-print-directory -s kmod BUILD="$build" KDIR="$headers" \
	KMOD_ARGS="$strict ${KMOD_ARGS-}" >"$why" 2>&1 ||
	fail 'the module is built'
! grep -q 'warning:' "$why" || fail 'the module is built without a warning'
# Swap needs a device: the kernel's own for one in memory, and what it needs.
for m in zsmalloc lz4_compress lz4hc_compress zram; do
	f=$(tests/vm/kernel.sh "$kernel" $m 2>/dev/null) || continue
	set -- "$@" --module "$f"
done
ko=$build/kmod/$(basename "$headers")/kmod/lkdf.ko
# 12288: a module from outside of the tree that nobody signed.
# shellcheck disable=SC2086
tests/vm/vm.sh --kernel "$kernel" --taint 12288 "$@" --module "$ko" \
	--timeout "${KMOD_TIMEOUT:-400}" --keep "$build/vm/$name" -- \
	"${KMOD_COMMAND:-./guest.sh 120 test_*}" \
	tests/vm/guest.sh "$ko" ${KMOD_GUEST-} 2>"$why"
rc=$?
[ $rc -ne 3 ] || skip
cat "$why" >&2
exit $rc
