#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The module in a kernel that looks for data races by the strict rules.
here=$(dirname "$0")
kernel=$("$here/debug_kernel.sh" kcsan) || {
	rc=$?
	[ $rc -eq 3 ] && echo '1..0 # SKIP there is no such kernel' && exit 0
	exit $rc
}
export KMOD_TIMEOUT="${KMOD_TIMEOUT:-3600}"
export KMOD_GUEST="${KMOD_GUEST-} $here/debug_guest.sh"
numbers=
for name in LKDF_FUZZ_SECONDS LKDF_FAIL_SECONDS LKDF_SNAPSHOTS; do
	eval "value=\${$name-}"
	numbers="$numbers${value:+ $name=$value}"
done
export KMOD_COMMAND="${KMOD_COMMAND:-$numbers ./debug_guest.sh kcsan}"
exec "$here/machine.sh" kcsan "$kernel" --nodes 2/1024,2/1024 \
	--boot 600 --taint 4096
