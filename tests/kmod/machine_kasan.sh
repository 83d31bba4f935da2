#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The module in a kernel that looks for errors of memory, locks and leaks: the
# tests, calls with any argument, those with failing allocations, what leaked.
# KMOD_KIND=fuzz leaves the tests out.
here=$(dirname "$0")
kernel=$("$here/debug_kernel.sh" kasan) || {
	rc=$?
	[ $rc -eq 3 ] && echo '1..0 # SKIP there is no such kernel' && exit 0
	exit $rc
}
# Nobody signs modules for it: the taint is one of the two.
export KMOD_ARGS="LKDF_KCOV=1 ${KMOD_ARGS-}"
export KMOD_TIMEOUT="${KMOD_TIMEOUT:-3600}"
export KMOD_GUEST="${KMOD_GUEST-} $here/debug_guest.sh"
kind=${KMOD_KIND:-kasan} numbers=
for name in LKDF_FUZZ_SECONDS LKDF_FAIL_SECONDS LKDF_SNAPSHOTS; do
	eval "value=\${$name-}"
	numbers="$numbers${value:+ $name=$value}"
done
export KMOD_COMMAND="${KMOD_COMMAND:-$numbers ./debug_guest.sh $kind}"
# The fuzzer's CPUs interrupt each other all the time: not more than there are.
nodes=2/1024,2/1024
[ "$kind" = fuzz ] && [ "$(nproc)" -lt 4 ] && nodes=1/1024,1/1024
exec "$here/machine.sh" "$kind" "$kernel" --nodes "$nodes" \
	--boot 600 --taint 4096
