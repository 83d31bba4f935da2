#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What verbs print with --json is what the schemas say that are installed.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
# shellcheck source=tests/tools/probe.sh
. tests/tools/probe.sh
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
log=$dir/log
pid=
trap 'kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

# valid NAME FILE...
valid() {
	schema=Documentation/schema/$1.json
	shift
	python3 tests/tools/schema.py "$schema" "$@" >"$log" 2>&1
}

"$lkdf" topo --json >"$dir/topo.json" && valid topo "$dir/topo.json"
ok $? 'topo is what its schema says'
LKDF_TOPOLOGY='numa:2 l3:1 core:2 pu:1' "$lkdf" topo --json \
	>"$dir/topo.json" && valid topo "$dir/topo.json"
ok $? 'so is one that is made up'
"$lkdf" doctor --json >"$dir/doctor.json" 2>"$log"
valid doctor "$dir/doctor.json"
ok $? 'doctor'
for name in $(python3 tests/api/report/planted.py --list); do
	python3 tests/api/report/planted.py "$name" "$dir/a.lkdf" &&
		"$lkdf" report --json "$dir/a.lkdf" >"$dir/$name.report"
	"$lkdf" trace check --json "$dir/a.lkdf" >"$dir/$name.check"
	head -c 2000 "$dir/a.lkdf" >"$dir/cut.lkdf"
	"$lkdf" trace check --json "$dir/cut.lkdf" >"$dir/$name.cut"
done 2>"$log"
for file in tests/fixtures/report/*.lkdf; do
	name=fixture_$(basename "$file" .lkdf)
	"$lkdf" report --json "$file" >"$dir/$name.report"
	"$lkdf" trace check --json "$file" >"$dir/$name.check"
done 2>>"$log"
valid report "$dir"/*.report
ok $? 'report, of all recordings of tests'
valid trace_check "$dir"/*.check
ok $? 'trace check, of all of them with their facts'
valid trace_check "$dir"/*.cut && grep -q '"why"' "$dir/clean.cut"
ok $? 'trace check, of damaged ones'
for name in alone together_memory; do
	python3 tests/api/report/tried.py "$name" "$dir/$name.lkdf"
done
cat >"$dir/command" <<END
#!/bin/sh
[ "\$LKDF_WORKERS" = 1 ] && n=alone || n=together_memory
exec cp "$dir/\$n.lkdf" "\$LKDF_TRACE"
END
chmod +x "$dir/command"
"$lkdf" try -q --json -w 1,4 "$dir/command" >"$dir/try.json" 2>"$log" &&
	valid try "$dir/try.json"
ok $? 'try'
"$lkdf" trace check --json "$dir/alone.lkdf" >"$dir/check.json" 2>"$log" &&
	valid trace_check "$dir/check.json"
ok $? 'trace check'
"$lkdf" trace diff --json "$dir/alone.lkdf" "$dir/together_memory.lkdf" \
	>"$dir/diff.json" 2>"$log"
valid trace_diff "$dir/diff.json"
ok $? 'trace diff'

# What looks at a process: one that works, and memory as a runtime has it.
# of_verb SCHEMA FACT VERB WORDS...
of_verb() {
	schema=$1
	fact=$2
	shift 2
	"$lkdf" "$@" >"$dir/$schema.json" 2>"$log" &&
		valid "$schema" "$dir/$schema.json"
	ok $? "$fact"
}
ask_target
ok $? 'a process to be asked'
"$dir/ask_target" graph >"$dir/graph.json" 2>"$log" &&
	valid graph "$dir/graph.json"
ok $? 'a graph that was dumped'
start_target env LKDF_KINDS=yes "$dir/ask_target" busy 2
of_verb stat 'stat' stat --json -p "$pid"
of_verb top 'top' top --json -I 50 -p "$pid"
of_verb why_process 'why' why --json -p "$pid"
of_verb topo_process 'topo -p' topo --json -p "$pid"
of_verb trace_record 'trace record' trace record --json -q -d 1 \
	-o "$dir/r.lkdf" -p "$pid"
of_verb pages 'pages' pages --json --best-effort -p "$pid"
if "$lkdf" pages --move 0 -n --json -p "$pid" >"$dir/move.json" 2>"$log"; then
	valid pages_move "$dir/move.json"
	ok $? 'pages --move'
else
	skip 'pages --move' "$(head -n 1 "$log")"
fi
stop_target KILL
start_target env LKDF_NARROW=force LKDF_WORKERS=2 "$dir/ask_target" busy 2
of_verb why_process 'why, with gates' why --json -p "$pid"
grep -q '"passed_by"' "$dir/why_process.json"
ok $? 'which have their counts'
stop_target KILL
start_target "$dir/ask_target" stuck 1
of_verb why_process 'why, of what waits' why --json -p "$pid"
stop_target KILL
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include -o "$dir/fake" \
	tests/tools/stats_fake.c >"$log" 2>&1
start_target "$dir/fake" 8 record device
of_verb stat 'stat, with a device' stat --json -p "$pid"
of_verb top 'top, with a device and a recording' top --json -I 100 -p "$pid"
stop_target KILL
device_target
start_target "$dir/device_target" busy
of_verb device 'device' device --json -p "$pid"
of_verb top 'top, with devices that work' top --json -I 100 -p "$pid"
stop_target KILL
# A bar may be missed here (exit status 1): other programs load the CPUs.
"$lkdf" bench idle --quick --json -q -w 1 >"$dir/bench.json" 2>"$log"
{ [ $? -le 1 ] && valid bench "$dir/bench.json"; }
ok $? 'bench'

# What the probe tells, where it loads.
if "$lkdf" probe start --dir "$dir/bpf" >"$log" 2>&1; then
	of_verb probe 'probe status' probe status --json --dir "$dir/bpf"
	LKDF_PROBE=$dir/bpf LKDF_WORKERS=2 "$build/examples/convoy" \
		--lock mutex --seconds 60 >/dev/null 2>&1 &
	pid=$!
	await grep -qs lkdf:stats "/proc/$pid/maps"
	of_verb futex 'futex' futex --json --dir "$dir/bpf" -d 1 -p "$pid"
	stop_target KILL
	"$lkdf" probe stop --dir "$dir/bpf" >"$log" 2>&1
	ok $? 'the probe goes'
elif probe_must_load; then
	ok 1 'the probe loads where nothing is missing'
else
	skip 'probe status and futex' "$(head -n 1 "$log")"
fi

# Each word of the validator refuses something.
# refuses NAME FILE EDIT: an object that was edited by a line of Python
refuses() {
	python3 -c "import json, sys
r = json.load(open(sys.argv[1]))
$3
json.dump(r, open(sys.argv[1] + '.bad', 'w'))" "$2" && ! valid "$1" "$2.bad"
}
refuses try "$dir/try.json" "r['schema'] = 'lkdf/try/2'"
ok $? 'a schema of another number is refused'
refuses try "$dir/try.json" "del r['runs'][0]['kinds'][0]['name']"
ok $? 'so is an object without a member'
refuses try "$dir/try.json" "r['runs'][1]['more'] = 1"
ok $? 'one with a member more'
refuses try "$dir/try.json" "r['runs'][0]['judged'] = 1"
ok $? 'and one of another type'
refuses stat "$dir/stat.json" "r['counters']['tasks'] = '1'"
ok $? 'and one whose members have any name'
echo "1..$nr"
exit "$failed"
