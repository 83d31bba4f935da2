#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# In the machine: the tests, the fuzzer with and without failing allocations,
# and what kmemleak found, as TAP. debug_guest.sh kasan|kcsan|fuzz [PROGRAM...];
# fuzz leaves the tests out. LKDF_FUZZ_SECONDS, LKDF_FAIL_SECONDS: the fuzzer
# without and with failing allocations.
kind=$1
shift
[ $# -gt 0 ] || set -- test_*
debug=/sys/kernel/debug
fuzz=${LKDF_FUZZ_SECONDS:-60} fail=${LKDF_FAIL_SECONDS:-60}
mount -t debugfs debug $debug 2>/dev/null
# The kernel's own races end nothing: judge.awk tells them from ours.
[ "$kind" = kcsan ] && echo 0 >/proc/sys/kernel/panic_on_warn
export LKDF_SNAPSHOTS="${LKDF_SNAPSHOTS:-3000}"
export LKDF_TIME_SCALE=20
[ "$kind" = fuzz ] || ./guest.sh 1200 "$@"
export LKDF_SECONDS="$fuzz"
./guest.sh $((fuzz + 1800)) fuzz_ioctl
[ "$kind" = kcsan ] && exit 0

# One allocation of 20 fails, in processes that asked for it.
for what in failslab fail_page_alloc; do
	echo 5 >$debug/$what/probability
	echo -1 >$debug/$what/times
	echo 1 >$debug/$what/task-filter
	echo 0 >$debug/$what/verbose
	echo 0 >$debug/$what/ignore-gfp-wait
done
export LKDF_SECONDS="$fail"
./guest.sh $((fail + 1800)) fuzz_ioctl
for what in failslab fail_page_alloc; do
	echo 0 >$debug/$what/probability
done

# Objects are reported after they were seen unreferenced twice.
echo scan >$debug/kmemleak
sleep 6
echo scan >$debug/kmemleak
sleep 6
echo scan >$debug/kmemleak
leaks=$(grep -c '^unreferenced object' $debug/kmemleak)
grep -A 20 '^unreferenced object' $debug/kmemleak | head -n 100 | sed 's/^/# /'
[ "$leaks" -eq 0 ] || printf 'not '
echo "ok - kmemleak found nothing: $leaks"
