#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Verbs with -p, and completion, on processes that mean harm to who looks at them.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
pid=
trap 'kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT

ask_target && "${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include \
	-o "$dir/hostile" tests/tools/hostile.c >"$dir/log" 2>&1
ok $? 'processes to be looked at'
start_target "$dir/ask_target" stuck 1
for link in /proc/"$pid"/fd/*; do
	case $(readlink "$link") in
	/memfd:lkdf:stats*) cat "$link" >"$dir/template" ;;
	esac
done
stop_target KILL
[ -s "$dir/template" ]
ok $? 'the memfd of a runtime'

# unharmed FACT COMMAND...: it ends by itself, soon, and is ended by no signal.
unharmed() {
	fact=$1
	shift
	"$limit" 20 "$@" >"$dir/log" 2>&1 </dev/null
	[ $? -lt 124 ]
	ok $? "$fact"
}

# each_verb: what looks at a process by its memfds, ten times.
each_verb() {
	for i in 1 2 3 4 5 6 7 8 9 10; do
		for verb in "stat -p $pid" "top --batch -n 1 -p $pid" \
			"why -p $pid" "completion next stat -p ''"; do
			eval "$limit 20 $lkdf $verb"
			[ $? -lt 124 ] || return 124
		done
	done
}

start_target "$dir/hostile" "$dir/template" open
try 5 'memory that may shrink is no runtime' "$lkdf" stat -p "$pid"
"$limit" 20 "$lkdf" completion next stat -p '' >"$dir/log" 2>&1
! grep -q "^$pid" "$dir/log"
ok $? 'nor offered by completion'
stop_target KILL

start_target "$dir/hostile" "$dir/template" shrink
each_verb >"$dir/log" 2>&1
[ $? -lt 124 ]
ok $? 'memory that shrinks ends no verb'
try 5 'nor is it a runtime' "$lkdf" stat -p "$pid"
holds 'has no lkdf runtime'
stop_target KILL

start_target "$dir/hostile" "$dir/template" answer
try 6 'an answer that is a file is damaged' "$lkdf" why -p "$pid"
! grep -q root "$dir/log"
ok $? 'the file is not shown'
stop_target KILL

# shown COMMAND...: what it writes holds no order for a terminal.
shown() {
	"$limit" 20 "$@" >"$dir/shown" 2>&1 </dev/null
	python3 - "$dir/shown" >"$dir/log" 2>&1 <<'END'
import sys
b = open(sys.argv[1], 'rb').read()
t = b.decode()
bad = [c for c in t if (c < ' ' and c not in '\n\t') or '\x7f' <= c < '\xa0']
assert t and not bad, (bad, t)
END
	ok $? "$(echo "$*" | sed "s#.*/lkdf#lkdf#; s# $pid\$##"): nothing is obeyed"
}

start_target "$dir/hostile" "$dir/template" escapes
shown "$lkdf" stat -p "$pid"
shown "$lkdf" stat -x , -p "$pid"
shown "$lkdf" stat --json -p "$pid"
shown "$lkdf" top --batch -n 1 -I 100ms -p "$pid"
shown "$lkdf" why --json -p "$pid"
shown "$lkdf" device -p "$pid"
stop_target KILL

if [ "$(id -u)" = 0 ] && start_target "$dir/hostile" "$dir/template" fifo; then
	unharmed 'a FIFO with the path of a memfd is not waited for' \
		"$lkdf" stat -p "$pid"
	holds 'has no lkdf runtime'
	unharmed 'by top neither' "$lkdf" top --batch -n 1 -p "$pid"
	stop_target KILL
else
	skip 'a FIFO with the path of a memfd' 'not root, or no mounts here'
fi

mkfifo "$dir/fifo"
unharmed 'a FIFO instead of a recording is not waited for' \
	"$lkdf" trace check "$dir/fifo"
unharmed 'by report neither' "$lkdf" report "$dir/fifo"

echo "1..$nr"
exit $failed
