#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf bench placement with the module, two nodes. PLACEMENT_ARGS: of the bench,
# --quick if it is not set. Only the rows are tested, no figure: they are shown.
set -u
build=${BUILD:-build}
here=$(dirname "$0")
args=${PLACEMENT_ARGS---quick}
export KMOD_GUEST="$build/lkdf $build/lkdf-bench $here/placement_guest.sh"
# Pages move when the bench moves them, and at no other time.
export KMOD_COMMAND="echo 0 >/proc/sys/kernel/numa_balancing
PLACEMENT_ARGS='$args' ./guest.sh ${KMOD_TIMEOUT:-360} placement_guest.sh"
exec "$here/machine.sh" kmod_placement 6.12 --nodes 2/1024,2/1024
