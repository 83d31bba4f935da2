#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Programs that the probe sees: in name spaces, of other users, when slots run
# out, when it is stopped under them. They run as if it was not there, and
# nothing is called of bpf(2) after their threads have started.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
convoy=$build/examples/convoy
pins=$dir/bpf
export LKDF_PROBE="$pins" LKDF_WORKERS=2
pid=

"$lkdf" probe start --dir "$pins" --group nogroup --slots 8 \
	>"$dir/log" 2>&1 ||
	probe_absent 'programs are seen'
trap '[ -z "$pid" ] || kill $pid 2>/dev/null
	"$lkdf" probe stop --dir "$pins" >/dev/null; rm -rf "$dir"' EXIT
chmod 755 "$dir"

# number KEY: of the probe's status
number() {
	"$lkdf" probe status --dir "$pins" --json |
		sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p"
}

# shellcheck disable=SC2317 # called by await
seen() {
	[ "$(number slots_used)" = "$1" ]
}

# until_seen COUNT: so many threads have slots
until_seen() {
	await seen "$1"
}

# calls SECONDS: how often such a program calls bpf(2)
calls() {
	strace -f -qq -e trace=bpf -o "$dir/calls" "$convoy" --seconds "$1" \
		>/dev/null 2>"$dir/log"
	grep -c 'bpf(' "$dir/calls"
}

if strace -qq -e trace=none true 2>/dev/null; then
	short=$(calls 0.3)
	long=$(calls 1.5)
	echo "# $short calls of bpf(2)"
	[ "$short" -gt 0 ] && [ "$short" -eq "$long" ]
	ok $? 'bpf(2) is called when threads start, and not again'
	LKDF_SIGNAL=off
	export LKDF_SIGNAL
	[ "$(calls 0.3)" -eq 0 ]
	ok $? 'and with signal=off not at all'
	unset LKDF_SIGNAL
else
	skip 'bpf(2) is called when threads start' 'there is no strace'
fi

"$convoy" --seconds 60 >/dev/null 2>&1 &
pid=$!
until_seen 2
ok $? 'the workers of a program are seen'
kill -KILL $pid
wait $pid 2>/dev/null
until_seen 0
ok $? 'and after SIGKILL not any more'

# A process that is number 1 in there
if unshare -pf true 2>/dev/null; then
	unshare -pf --kill-child "$convoy" --seconds 60 >/dev/null 2>&1 &
	pid=$!
	until_seen 2
	ok $? 'in a pid namespace of its own, too'
	inner=$(pgrep -P $pid)
	"$lkdf" futex -p "$inner" --dir "$pins" -d 1 >"$dir/log" 2>&1
	grep -q '2 workers' "$dir/log"
	ok $? 'and lkdf futex finds them from outside'
	kill -KILL "$inner" $pid 2>/dev/null
	wait $pid 2>/dev/null
	until_seen 0
else
	skip 'in a pid namespace of its own, too' 'unshare is refused'
fi
if unshare -Upf true 2>/dev/null; then
	"$limit" 20 unshare -Upf --kill-child "$convoy" --seconds 0.2 \
		>/dev/null 2>"$dir/log"
	ok $? 'in a user namespace: nobody there, and it runs'
else
	skip 'in a user namespace' 'unshare is refused'
fi

# Two slots for a user, and then none
user='setpriv --reuid=65534 --regid=65534 --clear-groups'
# shellcheck disable=SC2086
$user "$convoy" --seconds 60 >/dev/null 2>&1 &
pid=$!
until_seen 2
ok $? 'a user of the group is seen'
# shellcheck disable=SC2086
$user "$convoy" --seconds 0.2 >/dev/null 2>"$dir/log"
ok $? 'where the slots of a user are gone a program runs without'
[ "$(number refused)" -ge 2 ]
ok $? 'and status counts it'
# shellcheck disable=SC2086
setpriv --reuid=65534 --regid=65533 --clear-groups "$convoy" --seconds 0.2 \
	>/dev/null 2>"$dir/log"
ok $? 'of another group it runs without, too'

# Stopped under it
"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
ok $? 'the probe is stopped'
kill -0 $pid
ok $? 'the program goes on'
kill $pid
wait $pid 2>/dev/null

# Maps of somebody else, too small, under our names
if command -v bpftool >/dev/null; then
	"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
	rm "$pins/words"
	bpftool map create "$pins/words" type array key 4 value 128 entries 2 \
		name small flags 0x400 2>"$dir/log"
	"$convoy" --seconds 0.2 >/dev/null 2>"$dir/log"
	ok $? 'a map that is too small: the program runs'
	[ "$(number slots)" = '' ]
	ok $? 'and nobody reads it'
else
	skip 'a map that is too small' 'there is no bpftool'
fi
pid=
echo "1..$nr"
exit "$failed"
