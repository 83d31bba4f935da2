#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf futex says how many workers it sees where slots have run out, and takes
# the threads of the blocking pool for what they are. lkdf top and why say of
# workers that sleep in a lock that they do.
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
kill $pid
wait $pid 2>/dev/null

# Of four workers three wait for the one that sleeps with the lock.
LKDF_WORKERS=4 "$build/examples/convoy" --lock long --seconds 60 \
	>/dev/null 2>&1 &
pid=$!
# shellcheck disable=SC2317
top_says() {
	"$lkdf" top -b -n 1 -I 20 -p "$pid" "$@" >"$dir/log" 2>&1
}
# shellcheck disable=SC2317
locked() {
	top_says -w workers && grep -q '^ *[0-3] .* lock ' "$dir/log"
}
await locked
ok $? 'top: a worker that sleeps in a lock is not awake'
# shellcheck disable=SC2317
locked_json() {
	top_says --json && grep -q '"asleep": false.*"state": "futex"' "$dir/log"
}
await locked_json
ok $? 'so in its JSON'
# shellcheck disable=SC2317
why_says() {
	"$lkdf" why -p "$pid" >"$dir/log" 2>&1 &&
		grep -q 'a body of "node" on worker .* at futex word 0x' "$dir/log"
}
await why_says
ok $? 'why names the word' "$dir/log"
grep 'at futex word' "$dir/log" | grep -q 'who holds it is not known'
ok $? 'and that a plain mutex does not tell who holds it' "$dir/log"
echo "1..$nr"
exit "$failed"
