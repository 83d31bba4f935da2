#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf futex says how many workers it sees where slots have run out, and takes
# the threads of the blocking pool for what they are.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
pins=$dir/bpf
export LKDF_PROBE="$pins"

"$lkdf" probe start --slots 4 >"$dir/log" 2>&1 ||
	probe_absent 'workers that are not seen are told'
trap 'kill $pid 2>/dev/null; "$lkdf" probe stop >/dev/null 2>&1
	rm -rf "$dir"' EXIT
LKDF_WORKERS=8 "$build/examples/convoy" --lock none --seconds 60 \
	>/dev/null 2>&1 &
pid=$!
# All eight have started once the last has asked for a slot in vain.
# shellcheck disable=SC2317
refused() {
	"$lkdf" probe status --json | grep -q '"refused": 4'
}
await refused
ok $? 'four of eight workers are refused'
"$lkdf" futex -p $pid -d 1 >"$dir/log" 2>&1 &&
	grep -q ': 4 of 8 workers seen, ' "$dir/log"
ok $? 'futex, which obeys LKDF_PROBE, tells that it sees four of eight'
"$lkdf" futex -p $pid -d 1 --json >"$dir/log" 2>&1 &&
	grep -q '"workers": 4' "$dir/log" &&
	grep -q '"all_workers": 8' "$dir/log"
ok $? 'so does its JSON'
! grep -q 'of the blocking pool' "$dir/log" &&
	grep -q '"all_pool_threads": 0' "$dir/log"
ok $? 'and no thread of a pool is a worker'
echo "1..$nr"
exit "$failed"
