#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf report names as a cause what is one: each rule with a recording for which
# it holds, and with one for which it does not. Clocks are made up.
# shellcheck disable=SC2034
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
log=$dir/log
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}
# shellcheck source=tests/tools/told.sh
. tests/tools/told.sh

told observed '"a thread named backup in" in f[0]["why"] and
	"lkdf/drain" not in f[0]["why"]'
ok $? 'the thread that records is not who took the CPU'
told observed_only 'f[0]["id"] == "cpu" and "named" not in f[0]["why"]'
ok $? 'where only that was seen nobody is named'
told locked 'sum(x["cost"] for x in cost if x["id"] in ("futex", "kernel")) <= 1
	and f[0]["id"] == "futex"'
ok $? 'CPU time inside futex(2) is not that of system calls, too'
told mapped 'f[0]["id"] == "kernel" and f[0]["cost"] > 0.8'
ok $? 'which is all of it where there are no words'
for name in service_noisy service_runs; do
	told $name 'not cost and f[0]["id"] == "load"'
	ok $? "$name: a service with little to do has no cause that costs"
done
told service_late 'any(x["id"] == "late" for x in cost) and
	not any(x["id"] == "load" for x in f)'
ok $? 'one whose tasks begin late has'
told blocking 'not cost and f[0]["id"] == "pool" and "fetch" in f[0]["title"]'
ok $? 'bodies of the blocking pool are no time in which no body runs'
told pooled 'len([x for x in f if x["id"] == "pool"]) == 1'
ok $? 'one finding of the pool at most'
told blocking_phases 'f[0]["id"] == "starved" and "while step runs" in f[0]["title"]'
ok $? 'where they are few, what else is the cause is finding 1'
told chained_device 'f[0]["id"] == "starved" and "while step runs" in f[0]["title"]
	and not any(x["id"] == "device" for x in f)'
ok $? 'a device that is idle for most of that time is not waited for'
made critical
"$lkdf" report "$dir/critical.lkdf" --from 9 >"$log" 2>&1
[ $? -eq 2 ] && grep -q 'from 9s is after the end of .*, at 0.21' "$log"
ok $? 'so is one that begins after the end'
"$lkdf" trace convert --to chrome "$dir/critical.lkdf" --out "$dir/json" \
	>"$log" 2>&1 && "$lkdf" trace convert --to csv "$dir/critical.lkdf" \
	--out "$dir/csv" && python3 - "$dir/json" "$dir/csv" >>"$log" 2>&1 <<'END'
import csv, json, sys
rows = [r for r in csv.DictReader(open(sys.argv[2]))
        if r['sort'] == 'body' and r['by_lane'] and r['ready_ns']]
e = [x for x in json.load(open(sys.argv[1]))['traceEvents']
     if x.get('cat') == 'ready']
begin = {x['id']: (x['tid'], x['ts']) for x in e if x['ph'] == 's'}
end = {x['id']: (x['tid'], x['ts']) for x in e if x['ph'] == 'f'}
dots = [(x['tid'], x['ts']) for x in e if x['ph'] == 'X' and x['dur'] == 0]
assert len(rows) == len(begin) == len(end) == len(dots) > 1000
assert sorted(begin.values()) == sorted(dots)
wait = sorted(round(1000 * (end[i][1] - begin[i][1])) for i in begin)
assert wait == sorted(int(r['begin_ns']) - int(r['ready_ns']) for r in rows)
assert sorted(x[0] for x in begin.values()) == \
    sorted(int(r['by_lane']) for r in rows)
END
ok $? 'Chrome has an arrow from what made a body ready, in a slice without length'
# halved NAME KIND: what it says of a run whose bodies of that kind are shorter
halved() {
	made "$1"
	"$lkdf" report "$dir/$1.lkdf" |
		sed -n "s/^  $2  *\([0-9.]* %\) less  *[0-9.]* % more  *+*[0-9]* %\$/\1/p"
}
[ "$(halved clean work)" = '50 %' ]
ok $? 'even work of which no chain is long: half as long is half of the run' "$log"
[ "$(halved order lookup)" = '50 %' ]
ok $? 'a chain of one kind, too'

told loops_even 'not cost and r["time"]["caller"] > r["time"]["all"] * 0.49
	and [(x["name"], x["runs"], x["bodies"]) for x in r["loops"]]
	== [("smooth", 20, 400)] and r["loops"][0]["uneven"] < 50000'
ok $? 'a thread of the program that runs blocks works in the place of a worker'
told loops_uneven 'f[0]["id"] == "loop" and "smooth" in f[0]["title"] and
	160000000 < r["loops"][0]["uneven"] < 160100000'
ok $? 'threads of a loop that do not end together have a finding'
told loops_serial 'f[0]["id"] == "serial" and "submit" not in f[0]["fix"]'
ok $? 'the program that computes between its loops has one, and none of tasks'

# replayed NAME CHANGE OBJECT PERCENT: the first change, and what it gains
replayed() {
	told "$1" 'abs(r["replay"]["drift"]) < 0.01 and r["replay"]["lacks"] is None
		and [(g["object"].split()[0], round(100 * g["gain"]))
		for g in r["replay"]["gains"] if g["change"] == "'"$2"'"][0]
		== ("'"$3"'", '"$4"')'
	ok $? "$1: $2 of $3 gains $4 %"
}
replayed last first dear 38
replayed order apart config 75
replayed limit tokens limit 75
replayed window room room 75
replayed critical split reduce 43
replayed loops_uneven grain smooth 22
told last_fixed 'max([g["gain"] for g in r["replay"]["gains"]
	if g["change"] == "first"]) < 0.02 and
	not any("began last" in x["title"] for x in f)'
ok $? 'last_fixed: what goes first already gains nothing by that'
told critical '[round(x["wall"] / 1e6) for x in r["replay"]["workers"]][:3] ==
	[300, 210, 168]'
ok $? 'critical: with 8 workers it takes what the chain and the rest take'
told taken 'r["replay"]["lacks"] == "other threads took the CPUs of workers" and
	not r["replay"]["gains"]'
ok $? 'taken: nothing is predicted where workers had no CPU'
told first_is_first '"began last" not in f[0]["title"] and
	"first" not in f[0]["fix"] and f[0]["id"] == "starved"'
ok $? 'first_is_first: a kind that begins first is not to go first'
told regions_serial 'f[0]["id"] == "serial" and 0.55 < f[0]["cost"] < 0.6 and
	"between its regions" in f[0]["title"] and
	58000000 < r["between"] < 59000000 and [(t["name"], t["runs"],
	t["threads"], t["uneven"]) for t in r["teams"]] ==
	[("step, region 1", 40, 2, 0)]'
ok $? 'regions_serial: the time between regions has a finding and a number'
"$lkdf" report "$dir/regions_serial.lkdf" >"$log" &&
	grep -qE '^  \(no region\) +58\.5 ms +59 %$' "$log" &&
	grep -qE '^  step, region 1 +40 +2 +40\.0 ms +41 % +0 ns$' "$log"
ok $? 'and the text a table, the serial part first' "$log"
told regions_busy 'not any("between its regions" in x["title"] for x in f)'
ok $? 'regions_busy: beside tasks the program is not alone'
told regions_uneven 'r["between"] < 100000 and [(t["runs"],
	round(t["uneven"] / 1e6), round(t["worst"] / 1e6)) for t in r["teams"]]
	== [(50, 50, 1)] and not any(x["id"] == "serial" for x in f)'
ok $? 'regions_uneven: threads that ended waited for the last'
told last 'r["teams"] == [] and r["between"] == 0'
ok $? 'last: a program without regions has none'
# starves NAME WHILE: for most of the time in which nothing was ready
starves() {
	told "$1" '2 * [s["time"] for s in r["starved"]
		if s["while"] == "'"$2"'"][0] > r["time"]["starved"] > 0'
	ok $? "$1: nothing is ready, reason $2"
}
starves limit tokens
starves window room
starves loops_uneven loop
starves device device
starves last tasks
starves submit program
starves critical end
told idle_sleepers '[(x["id"], x["refuted"]) for x in f if x["sort"] == "cost"]
	== [("starved", False), ("asleep", True)] and
	cost[1]["cost"] > 0.3 > 0.1 > cost[0]["cost"] and
	cost[1]["gain"] is None and 0.07 < cost[0]["gain"] < 0.08'
ok $? 'idle_sleepers: what costs 34 % and limits nothing comes last'
"$lkdf" report "$dir/idle_sleepers.lkdf" >"$log" && grep -q \
	'^ *but a replay without it takes 0 % less: it limits nothing$' "$log" &&
	grep -q '^   7\.5 %     30\.0 ms    while the program submitted no more$' \
		"$log"
ok $? 'and the text says so' "$log"
told convoy 'f[0]["id"] == "asleep" and not f[0]["refuted"] and
	abs(f[0]["gain"] - f[0]["cost"]) < 0.02'
ok $? 'convoy: sleeps of all workers gain what they cost'
told submit 'f[0]["id"] == "submission" and abs(f[0]["gain"] - 0.7) < 0.01'
ok $? 'submit: the gain of a program that does not compute is predicted'
told mapped 'f[0]["gain"] > 0.85'
ok $? 'mapped: so is that of bodies that are not in the kernel'
told submit '[(k["name"], k["slack"]) for k in r["replay"]["kinds"]] ==
	[("count", 1)]'
ok $? 'submit: bodies may take twice as long at no cost'
told limit '[(k["name"], k["slack"]) for k in r["replay"]["kinds"]] ==
	[("store", 0)]'
ok $? 'limit: those that all wait for may not'
told service 'not any(g["change"] == "program" for g in r["replay"]["gains"])'
ok $? 'service: a load in its own rhythm is not told to come faster'
told order '[g["text"] for g in r["replay"]["gains"] if g["change"] == "apart"]
	== ["no task that writes config waits for another: READ, REDUCE, or " +
	"a part for each"]'
ok $? 'order: the change fits the mode of the tasks'
made graph
"$lkdf" report "$dir/graph.lkdf" >"$log"
grep -q '^  1  .* 163 [^ ]*s: too short for advice' "$log" &&
	! grep -q '^  2 ' "$log"
ok $? 'a run of less than 2 ms gets one line'
"$lkdf" report -v "$dir/graph.lkdf" >"$log"
! grep -q 'too short' "$log"
ok $? 'and all causes with -v'
"$lkdf" report "$dir/critical.lkdf" --from 5ms --to 6ms >"$log"
! grep -q 'too short' "$log"
ok $? 'a short window of a long run is as was asked for'
echo "1..$nr"
exit "$failed"
