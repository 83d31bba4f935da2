#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Placement with the module's facts, four nodes; and the tests of placement on
# every tier: with the module, without it, with nothing.
set -u
build=${BUILD:-build}
here=$(dirname "$0")
KMOD_GUEST="$build/lkdf:lkdf"
for t in facts listen moves data pages; do
	KMOD_GUEST="$KMOD_GUEST $build/tests/vm/test_$t:vm/test_$t"
done
# shellcheck disable=SC2016
KMOD_COMMAND='echo 0 >/proc/sys/kernel/numa_balancing
./guest.sh 120 vm/test_facts vm/test_listen
for tier in auto proc off; do
	export LKDF_SIGNAL=$tier LKDF_SIGNAL_KIB=64
	./guest.sh 60 vm/test_moves vm/test_data vm/test_pages
done'
export KMOD_GUEST KMOD_COMMAND
exec "$here/machine.sh" kmod_facts 6.1 \
	--nodes 2/256,2/256,2/256,2/256
