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
kill $pid
wait $pid 2>/dev/null

# Who wakes, and from where those came who sleep.
"${CXX:-c++}" -std=c++17 -O1 -fno-omit-frame-pointer -Ilib/include \
	-o "$dir/nested_lock" tests/tools/nested_lock.cc -L"$build" -llkdf \
	-lpthread -Wl,-rpath,"$build" >"$dir/log" 2>&1
ok $? 'a program of C++ with frame pointers'
"$dir/nested_lock" >/dev/null 2>&1 &
pid=$!
# shellcheck disable=SC2317
futex_says() {
	"$lkdf" futex -p "$pid" -d 1 >"$dir/log" 2>&1 && grep -q "$1" "$dir/log"
}
if "$lkdf" probe status --json | grep -q '"wake": true'; then
	await futex_says \
		'call of futex(2) on the word, the last one by worker [0-2] in a'
	ok $? 'futex tells which worker wakes, and in a body of which kind'
	grep -q 'in a body of parse$' "$dir/log"
	ok $? 'which is the one that has the lock'
else
	skip 'who wakes' 'this kernel has no sched_waking for the probe'
fi
if "$lkdf" probe status --json | grep -q '"stack": true'; then
	await futex_says 'who sleeps .* parse: .*table::lookup_key(int)'
	ok $? 'futex tells the callers, by names of C++'
	"$lkdf" futex -p "$pid" -d 1 --json >"$dir/log" 2>&1
	grep -q '"callers": \[.*"table::lookup_key(int)"' "$dir/log"
	ok $? 'so does its JSON'
else
	skip 'callers' 'this kernel does not give stacks to the probe'
fi
kill $pid
wait $pid 2>/dev/null

# Four workers on one CPU: three of them are preempted at any time.
cpu=$(taskset -cp $$ | sed 's/.*: //; s/[,-].*//')
LKDF_WORKERS=4 LKDF_PIN=no taskset -c "$cpu" "$build/examples/convoy" \
	--lock none --seconds 60 >/dev/null 2>&1 &
pid=$!
# shellcheck disable=SC2317
preempted_json() {
	top_says --json && grep -q '"preempted_by_tid": [1-9]' "$dir/log"
}
await preempted_json
ok $? 'top tells which thread has the CPU of a worker that waits for one'
# shellcheck disable=SC2317
preempted() {
	top_says -w workers &&
		grep -q '^worker [0-3] waits for a CPU, which thread ' "$dir/log"
}
await preempted
ok $? 'so does its view of workers'
# shellcheck disable=SC2317
why_preempted() {
	"$lkdf" why -p "$pid" >"$dir/log" 2>&1 &&
		grep -q 'has waited for a CPU for [0-9]* us, which thread ' \
			"$dir/log"
}
await why_preempted
ok $? 'and lkdf why'
kill $pid
wait $pid 2>/dev/null
LKDF_TRACE=$dir/taken.lkdf LKDF_WORKERS=4 LKDF_PIN=no taskset -c "$cpu" \
	"$build/examples/convoy" --lock none --seconds 1 >/dev/null 2>&1
"$lkdf" report "$dir/taken.lkdf" >"$dir/log" 2>&1
tr -s ' \n' ' ' <"$dir/log" |
	grep -q 'Who got the CPU was looked at .* times: a thread named [^ ]'
ok $? 'a report names who got the CPU of workers'
echo "1..$nr"
exit "$failed"
