#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf why -p and topo -p: processes that hang, in any way, and processes that do not answer.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
target=$dir/ask_target
pid=
child=
trap 'kill -9 $pid $child 2>/dev/null; rm -rf "$dir"' EXIT

ask_target
ok $? 'a process to be asked'

try 2 'which process?' "$lkdf" why
try 5 'no such process' "$lkdf" why -p no-such-command-here
try 5 'a process without a runtime' "$lkdf" why -p $$
holds 'has no lkdf runtime'

start_target "$target" stuck 1
try 0 'a process in which a task waits' "$lkdf" why -p "$pid"
holds '^as seen: 1 submitted task'
holds '^task "first" waits before it starts, for an event'
kill -STOP "$pid"
try 4 'a process that is stopped' "$lkdf" why -p "$pid"
holds 'does not answer'
kill -CONT "$pid"
try 0 'when it goes on it answers' "$lkdf" why -p "$pid"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir"
	cp "$lkdf" "$build"/liblkdf.so.0 "$dir"
	try 3 'a process that is not ours' env LD_LIBRARY_PATH="$dir" setpriv \
		--reuid=65534 --regid=65534 --clear-groups \
		"$dir/lkdf" why -p "$pid"
else
	skip 'a process that is not ours' 'only root has another user'
fi
stop_target KILL

start_target "$target" stuck 3
try 0 'three runtimes in a process' "$lkdf" why -p "$pid"
holds '^runtime 1 of 3$'
holds '^runtime 3 of 3$'
[ "$(grep -cE '^task "(first|second|third)" waits' "$dir/log")" = 3 ]
ok $? 'each says what waits there'
"$lkdf" why --json -p "$pid" >"$dir/log" 2>&1
ok $? 'and in JSON'
python3 - "$dir/log" "$pid" >"$dir/why" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
assert t["schema"] == "lkdf/why_process/1" and t["pid"] == int(sys.argv[2])
assert t["command"] == "ask_target" and len(t["runtimes"]) == 3
who = sorted(r["waits"][0]["who"] for r in t["runtimes"])
assert who == ['task "first"', 'task "second"', 'task "third"'], who
assert all(r["schema"] == "lkdf/why/1" for r in t["runtimes"])
END
ok $? 'with an object of each' "$dir/why"
try 0 'topo -p: each runtime tells its machine' "$lkdf" topo -p "$pid"
[ "$(grep -c '^Machine ' "$dir/log")" = 3 ]
ok $? 'and all three do'
try 2 'options are those of the process' "$lkdf" topo -p "$pid" -c 0
stop_target KILL

start_target env LKDF_TOPOLOGY='numa:2 l3:1 core:2 pu:1' "$target" stuck 1
try 0 'a machine that is made up for the process' "$lkdf" topo -p "$pid"
holds '^Machine .* 2 nodes, 4 cores'
stop_target KILL
try 5 'topo -p of no process' "$lkdf" topo -p no-such-command-here

start_target "$target" locked
try 0 'workers that hang in bodies' "$lkdf" why -p "$pid"
holds '^as seen: 4 submitted tasks'
holds 'nothing was seen to wait: bodies run'
holds "worker [01], thread [0-9]*: waits for the lock 0x[0-9a-f]*, which thread $pid (ask_target) holds"
stop_target KILL
# Both bodies are in their calls.
# shellcheck disable=SC2317
why_has_calls() {
	"$lkdf" why -p "$pid" >"$dir/log" 2>&1
	grep -q 'reads: descriptor' "$dir/log" &&
		grep -q 'waits for a child' "$dir/log"
}

for options in LKDF_ASK=1 LKDF_ASK=0; do
	start_target env "$options" "$target" calls
	await why_has_calls
	holds 'worker [01], thread [0-9]*: reads: descriptor [0-9]*, pipe:.[0-9]'
	holds 'worker [01], thread [0-9]*: waits for a child, process [0-9]'
	[ "$options" = LKDF_ASK=0 ] || {
		"$lkdf" why --json -p "$pid" >"$dir/log" &&
			python3 tests/tools/schema.py \
				Documentation/schema/why_process.json "$dir/log" &&
			grep -q '"call": "wait4"' "$dir/log"
		ok $? 'JSON has them, too' "$dir/log"
	}
	stop_target KILL
done

# All four bodies sleep.
# shellcheck disable=SC2317
why_has_sleeps() {
	"$lkdf" why -p "$pid" >"$dir/log" 2>&1
	grep -q 'writes: descriptor' "$dir/log" &&
		grep -q 'waits for the end of thread' "$dir/log" &&
		grep -q 'uninterruptible' "$dir/log" &&
		grep -q 'sleeps on the futex word' "$dir/log"
}
start_target "$target" sleeps
await why_has_sleeps
holds 'worker [0-3], thread [0-9]*: writes: descriptor [0-9]*, pipe:.[0-9]'
holds 'worker [0-3], thread [0-9]*: waits for the end of thread [0-9]* ('
holds 'worker [0-3], thread [0-9]*: sleeps on the futex word 0x[0-9a-f]'
holds 'worker [0-3], thread [0-9]*, uninterruptible: waits for the exec or the exit of its vfork'
! grep -q 'waits for the lock' "$dir/log"
ok $? 'a condition has no holder' "$dir/log"
stop_target KILL

start_target "$target" fork
child=$(sed -n 's/^up //p' "$dir/up")
try 0 'a process that has forked' "$lkdf" why -p "$pid"
try 5 'its child does not answer for it' "$lkdf" why -p "$child"
holds 'has no lkdf runtime'
stop_target KILL
try 5 'nor when it is gone' "$lkdf" why -p "$child"
kill -9 "$child"
child=

start_target "$target" serial
try 4 'serial=yes has no thread that answers' "$lkdf" why -p "$pid"
holds 'answers nobody'
stop_target KILL
start_target env LKDF_ASK=0 "$target" stuck 1
try 4 'ask=no, too' "$lkdf" why -p "$pid"
stop_target KILL

if unshare -n true 2>/dev/null; then
	start_target unshare -n "$target" stuck 1
	try 0 'another network namespace' "$lkdf" why -p "$pid"
	holds '^task "first" waits'
	if command -v setpriv >/dev/null; then
		try 3 'where one may not go' setpriv \
			--bounding-set=-sys_admin --inh-caps=-sys_admin \
			"$lkdf" why -p "$pid"
		holds 'network namespace of its own'
	fi
	stop_target KILL
else
	skip 'another network namespace' 'none to be had'
fi

echo "1..$nr"
exit $failed
