#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf top: lines of --batch, --json, and screens of 40, 80 and 200 columns in a
# terminal of tmux. What is looked at are a runtime that works and memory as a
# runtime of 256 workers has it, tame or with whatever in it.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
fake=$dir/fake
mux=
nr_screens=0
pid=
trap '[ -z "$pid" ] || kill "$pid" 2>/dev/null
	[ -z "$mux" ] || $mux kill-server 2>/dev/null; rm -rf "$dir"' EXIT
export COLUMNS=80 LC_ALL=C
# tmux starts the user's shell, which may be nologin.
export SHELL=/bin/sh
unset NO_COLOR LKDF_PROBE

top() {
	"$lkdf" top -b -n 1 -I 20 -p "$pid" "$@" >"$dir/log" 2>&1
}

"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include -o "$fake" \
	tests/tools/stats_fake.c >"$dir/log" 2>&1
ok $? 'memory as a runtime has it'

try 5 'no such process' "$lkdf" top -b -p no-such-command-here
try 5 'a process without a runtime' "$lkdf" top -b -p $$
holds 'has no lkdf runtime'
try 2 'no such view' "$lkdf" top -b -p $$ -w none
try 2 'no such interval' "$lkdf" top -b -p $$ -I 1

start_target "$fake" 256 record device
for view in nodes workers kinds futexes devices pages; do
	top -w $view
	ok $? "the view $view"
	head -n 1 "$dir/log" | grep -q "^lkdf top  $pid fake .* 256 workers"
	ok $? 'tells about the process first'
	for columns in 40 200; do
		COLUMNS=$columns top -w $view
		! grep -qE "^.{$((columns + 1))}" "$dir/log" &&
			! LC_ALL=C grep -q '[^ -~]' "$dir/log"
		ok $? "$view in $columns columns: no line is longer, all is ASCII"
	done
done
top -w nodes
[ "$(grep -cE '^ +[0-3] +64 +32 ' "$dir/log")" = 4 ]
ok $? 'four nodes of 64 workers, 32 asleep'
LC_ALL=C.UTF-8 top -w nodes
grep -q '████' "$dir/log"
ok $? 'bars in a UTF-8 locale'
top -w workers
[ "$(grep -c ' asleep ' "$dir/log")" = 128 ]
ok $? 'half of the workers are asleep'
# Until the process has had a CPU between two looks.
i=0
until top -I 300 -w kinds && grep -q '^gemm ' "$dir/log" || [ $i -gt 40 ]; do
	i=$((i + 1))
done
holds '^gemm .* 100  *25.0 %'
holds '^a?\[2Jb?'
i=0
until [ $i -gt 40 ] || { "$lkdf" top --json -I 200 -p $pid >"$dir/log" &&
	grep -q gemm "$dir/log"; }; do
	i=$((i + 1))
done
python3 - "$dir/log" >"$dir/why" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
assert t["schema"] == "lkdf/top/1"
assert [n["workers"] for n in t["nodes"]] == [64] * 4
w = t["workers"]
assert len(w) == 256 and all(x["busy"] < 0.05 for x in w[::2])
assert all(x["busy"] == 1 for x in w[1::2])
rate = t["per_second"]["tasks"]
assert abs(sum(x["per_second"]["tasks"] for x in w) - rate) < 0.01 * rate + 20
assert t["per_second"]["steals_near"] * 4 < rate
g = t["kinds"][0]
assert g["name"] == "gemm" and 95 < g["p50_us"] < 105 and g["share"] > 0
assert g["remote_bytes"] * 3 == g["local_bytes"]
assert t["devices"][0]["counter"] == "device.kernels"
END
ok $? 'which agrees with what the process does' "$dir/why"
if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	chmod 755 "$dir"
	cp "$lkdf" "$build"/liblkdf.so.0 "$dir"
	try 3 'a process that is not ours' env LD_LIBRARY_PATH="$dir" setpriv \
		--reuid=65534 --regid=65534 --clear-groups \
		"$dir/lkdf" top -b -n 1 -p $pid
	holds 'needs: the same user'
else
	skip 'a process that is not ours' 'needs root and setpriv'
fi
stop_target TERM

start_target "$fake" 64 wild record
try 0 'whatever a process writes there' "$lkdf" top -b -n 30 -I 10 -p $pid \
	-w workers
try 0 'kinds, too' "$lkdf" top -b -n 30 -I 10 -p $pid -w kinds
stop_target TERM

start_target "$fake" 2
"$lkdf" top -b -I 20 -p $pid >"$dir/log" 2>&1 &
top=$!
await [ -s "$dir/log" ]
stop_target TERM
wait $top
[ $? -eq 5 ] && grep -q 'has ended' "$dir/log"
ok $? 'a process that ends: 5, and said'

# ---- a runtime that works

ask_target
ok $? 'a program that computes'

"$build/examples/convoy" --lock none --seconds 100 >/dev/null 2>&1 &
pid=$!
# shellcheck disable=SC2317
looks() {
	"$lkdf" top -b -n 1 -I 50 -p "$pid" >"$dir/log" 2>&1
}
await looks
grep -qE 'workers  [0-9.]+ % busy  [0-9.]+[kM]? tasks/s' "$dir/log"
ok $? 'a program that works'
! grep -q '^gates:' "$dir/log"
ok $? 'of which nothing waits at a gate'
kill $pid
wait $pid 2>/dev/null

LKDF_NARROW=force LKDF_WORKERS=4 "$build/examples/convoy" --seconds 100 \
	>/dev/null 2>&1 &
pid=$!
# shellcheck disable=SC2317
waits_at_gates() {
	"$lkdf" top -b -n 1 -I 200 -p "$pid" >"$dir/log" 2>&1 &&
		grep -qE '^gates:  [0-9.]+[kM]? items put aside/s' "$dir/log"
}
await waits_at_gates
ok $? 'items that are put aside at gates'
holds "lkdf why -p $pid names the kinds"
kill $pid
wait $pid 2>/dev/null

start_target env LKDF_KINDS=yes "$dir/ask_target" busy 1
# shellcheck disable=SC2317
counts() {
	"$lkdf" top -b -n 1 -I 50 -p "$pid" -w kinds >"$dir/log" 2>&1 &&
		grep -q '^compute .* - .* - ' "$dir/log"
}
await counts
ok $? 'kinds that are counted, without a recording'
# shellcheck disable=SC2317
counts_in_json() {
	"$lkdf" top --json -I 50 -p "$pid" >"$dir/log" 2>&1
	python3 - "$dir/log" >"$dir/why" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
assert t["is_counted"] and not t["is_recorded"]
k = {k["name"]: k for k in t["kinds"]}["compute"]
assert k["p99_us"] == 0 and k["mean_us"] >= 0 and k["bodies_per_second"] > 0
END
}
await counts_in_json
ok $? 'and in JSON' "$dir/why"
try 0 'lkdf stat has them' "$lkdf" stat -p "$pid"
holds '^ *[0-9]*  bodies      compute .* us each, as [0-9]* of them were timed'
try 0 'as metrics, too' "$lkdf" stat -p "$pid" -m "$dir/metrics"
grep -qE '^lkdf_kind_bodies_total.*kind="compute".* [0-9]+$' "$dir/metrics" &&
	grep -qE '^lkdf_kind_ns_total.*kind="compute".* [0-9]+$' "$dir/metrics"
ok $? 'with the kind as a label'
stop_target KILL
start_target "$dir/ask_target" busy 1
"$lkdf" stat --json -p "$pid" >"$dir/log" 2>&1
grep -q '"kinds_counted": false' "$dir/log"
ok $? 'without the option nobody counts'
stop_target KILL

# ---- screens

finish() {
	echo "1..$nr"
	exit $failed
}
start_target "$fake" 256 record device fail
try 2 'without a terminal' "$lkdf" top -p $pid
if ! ldd "$lkdf" | grep -q ncursesw; then
	stop_target TERM
	skip 'screens' 'lkdf was built without ncursesw'
	finish
fi
holds 'try:   lkdf top --batch'
if ! command -v tmux >/dev/null; then
	stop_target TERM
	skip 'screens' 'there is no tmux'
	finish
fi

# shows FACT PATTERN [-e]: sooner or later.
shows() {
	i=0
	until $mux capture-pane -p ${3:+"$3"} >"$dir/log" 2>&1 &&
		grep -q -e "$2" "$dir/log"; do
		i=$((i + 1))
		[ $i -lt 400 ] || break
		sleep 0.05
	done
	[ $i -lt 400 ]
	ok $? "$1"
}

# A server that ends may still answer: each screen has its own.
server() {
	nr_screens=$((nr_screens + 1))
	mux="tmux -S $dir/mux$nr_screens -f /dev/null"
}

# screen COLUMNS LINES LOCALE ARGUMENT...: a shell in it says how top ended, and
# whether lines are edited again.
screen() {
	columns=$1
	lines=$2
	locale=$3
	shift 3
	cat >"$dir/shell" <<-END
		export LC_ALL=$locale
		trap : INT
		"$lkdf" top -p $pid -I 50 $*
		echo "it ended: \$?" \$(stty -a | grep -o ' -*icanon')
		read -r line
	END
	server
	$mux new-session -d -x "$columns" -y "$lines" "sh '$dir/shell'"
}

over() {
	$mux kill-server 2>/dev/null
	mux=
}

for columns in 40 80 200; do
	for locale in C C.UTF-8; do
		screen "$columns" 30 "$locale"
		shows "$columns columns, $locale: nodes" '^ *3 *64 *32 '
		for view in workers kinds devices pages; do
			case $view in
			workers) want='^ *1 .* awake' ;;
			kinds) want='^gemm' ;;
			devices) want='^device.kernels' ;;
			pages) want='^ *3 *0 *0' ;;
			esac
			$mux send-keys "$(printf %.1s $view)"
			shows "$view" "$want"
		done
		$mux send-keys '?'
		shows 'help' '^near and far are items taken from'
		grep -q '^Any key ends' "$dir/log"
		ok $? 'up to its end'
		$mux send-keys x q
		shows 'q ends it and the terminal is as before' \
			'^it ended: 0 icanon'
		over
	done
done

screen 80 24 C.UTF-8 -w workers
shows 'bars' '██'
$mux send-keys End
shows 'the end of the list' '^ *255 '
$mux send-keys Home s
shows 'by how busy they are' 'order: busy'
shows 'the busiest first' '^ *1 .* awake'
$mux resize-window -x 120 -y 10
shows 'as wide as the terminal becomes' 'parks/s *$'
shows 'with its keys' 'q quit'
[ "$(wc -l <"$dir/log")" = 10 ] && tail -n 1 "$dir/log" | grep -q 'q quit'
ok $? 'and as high: keys are in the last line'
$mux resize-window -x 20 -y 3
shows 'in hardly any room' 'n w k f'
$mux resize-window -x 80 -y 24
shows 'and back' 'q quit'
$mux send-keys C-c
shows 'Ctrl-C ends it and the terminal is as before' '^it ended: 0 icanon'
over

screen 80 24 C
shows 'failed tasks in red' '31m.*failed/s' -e
top=$(pgrep -f "lkdf top -p $pid -I 50")
kill -TERM "$top"
shows 'so does SIGTERM' '^it ended: 0 icanon'
over
NO_COLOR=1 && export NO_COLOR
screen 80 24 C
shows 'failed tasks' 'failed/s'
$mux capture-pane -p -e >"$dir/log"
! grep -q '\[[0-9;]*3[0-7]m' "$dir/log"
ok $? 'in no colour with NO_COLOR'
stop_target TERM
shows 'a process that ends: 5' '^it ended: 5 icanon'
shows 'and said' 'has ended'
over
server
$mux new-session -d -x 80 -y 24 \
	"TERM=none-such '$lkdf' top -p $$; echo ended: \$?; read -r x"
shows 'no runtime is said on the terminal' '^ended: 5'
over
finish
