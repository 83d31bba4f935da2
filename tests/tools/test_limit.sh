#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What the scripts of tests take instead of timeout(1) ends a command whose time is
# over, and gives more of it to one that has to share its CPUs.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
loops=
trap 'kill $loops 2>/dev/null; rm -rf "$dir"' EXIT

# ends STATUS FACT COMMAND...
ends() {
	want=$1
	fact=$2
	shift 2
	"$@" >"$dir/log" 2>&1
	rc=$?
	echo "exit status $rc" >>"$dir/log"
	[ $rc -eq "$want" ]
	ok $? "$fact"
}

ends 0 'a command that ends well' "$limit" 20 true
ends 3 'its exit status' "$limit" 20 sh -c 'exit 3'
# shellcheck disable=SC2016
ends 139 'a signal that ends it' "$limit" 20 sh -c 'ulimit -c 0; kill -SEGV $$'
# A shell's background commands ignore SIGINT.
# shellcheck disable=SC2016
{
	"$limit" 20 sh -c 'kill -INT $$' &
	wait $!
}
[ $? -eq 130 ]
ok $? 'the command ignores no signal'
ends 126 'a command that is not there' "$limit" 20 "$dir/none"
ends 126 'no number' "$limit" soon true
[ "$(echo text | "$limit" 20 cat)" = text ]
ok $? 'it reads what it is given'
ends 124 'one that sleeps too long is ended' "$limit" 1 sleep 30
# shellcheck disable=SC2016
ends 124 'so is what it has started' "$limit" 1 sh -c 'sleep 30 &
	echo $! >'"$dir/pid"'
	wait'
# shellcheck disable=SC2016
await sh -c '! kill -0 "$(cat "$1")" 2>/dev/null' sh "$dir/pid"
ok $? 'which is gone'
ends 124 'one that computes without end' "$limit" 1 sh -c 'while :; do :; done'

cpus=$(getconf _NPROCESSORS_ONLN)
i=0
while [ $i -lt $((4 * cpus)) ]; do
	nice -n 19 "$limit" 20 sh -c 'while :; do :; done' &
	loops="$loops $!"
	i=$((i + 1))
done
# shellcheck disable=SC2317
is_slow() {
	[ "$(slowness)" -ge 4 ]
}
await is_slow
ok $? 'four loops want each CPU'
ends 0 'beside them one that sleeps as long is not ended' "$limit" 1 sleep 1.5
ends 124 'one that sleeps for ever is' "$limit" 1 sleep 600
echo "1..$nr"
exit $failed
