#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf why -p: processes that hang, in any way, and processes that do not answer.
# shellcheck source=tests/api/tap.sh
. "$(dirname "$0")/tap.sh"
lkdf=$build/lkdf
target=$dir/ask_target
pid=
child=
trap 'kill -9 $pid $child 2>/dev/null; rm -rf "$dir"' EXIT

# try STATUS FACT COMMAND...: its output is in $dir/log.
try() {
	want=$1
	fact=$2
	shift 2
	timeout 60 "$@" >"$dir/log" 2>&1 </dev/null
	[ $? -eq "$want" ]
	ok $? "$fact"
}

holds() {
	grep -q -e "$1" "$dir/log"
	ok $? "it says $1"
}

# start COMMAND...: $pid is such a process, $child the child that it names.
start() {
	rm -f "$dir/up"
	"$@" >"$dir/up" 2>"$dir/log" &
	pid=$!
	i=0
	while ! grep -qs up "$dir/up" && [ $i -lt 400 ]; do
		sleep 0.05
		i=$((i + 1))
	done
}

stop() {
	kill -9 "$pid"
	wait "$pid" 2>/dev/null
	pid=
}

"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include -o "$target" \
	tests/api/ask_target.c -L"$build" -llkdf -lpthread \
	-Wl,-rpath,"$build" >"$dir/log" 2>&1
ok $? 'a process to be asked'

try 2 'which process?' "$lkdf" why
try 5 'no such process' "$lkdf" why -p no-such-command-here
try 5 'a process without a runtime' "$lkdf" why -p $$
holds 'has no lkdf runtime'

start "$target" stuck 1
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
stop

start "$target" stuck 3
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
stop

start "$target" locked
try 0 'workers that hang in bodies' "$lkdf" why -p "$pid"
holds '^as seen: 4 submitted tasks'
holds 'nothing was seen to wait: bodies run'
stop

start "$target" fork
child=$(sed -n 's/^up //p' "$dir/up")
try 0 'a process that has forked' "$lkdf" why -p "$pid"
try 5 'its child does not answer for it' "$lkdf" why -p "$child"
holds 'has no lkdf runtime'
stop
try 5 'nor when it is gone' "$lkdf" why -p "$child"
kill -9 "$child"
child=

start "$target" serial
try 4 'serial=yes has no thread that answers' "$lkdf" why -p "$pid"
holds 'answers nobody'
stop
start env LKDF_ASK=0 "$target" stuck 1
try 4 'ask=no, too' "$lkdf" why -p "$pid"
stop

if unshare -n true 2>/dev/null; then
	start unshare -n "$target" stuck 1
	try 0 'another network namespace' "$lkdf" why -p "$pid"
	holds '^task "first" waits'
	if command -v setpriv >/dev/null; then
		try 3 'where one may not go' setpriv \
			--bounding-set=-sys_admin --inh-caps=-sys_admin \
			"$lkdf" why -p "$pid"
		holds 'network namespace of its own'
	fi
	stop
else
	skip 'another network namespace' 'none to be had'
fi

echo "1..$nr"
exit $failed
