#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A program with a hidden lock is recorded while lkdf probe is there: the report
# names the lock and the kind when the program is gone, and the converters have
# the counts. Without the probe the recording has none, and the report says so.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
convoy=$build/examples/convoy
pins=$dir/bpf
export LKDF_PROBE="$pins" LKDF_WORKERS=2 MALLOC_ARENA_MAX=1

# told FILE EXPRESSION: of the report as JSON, r; its findings are f. The report
# of a recording is made once.
told() {
	[ -s "$1.json" ] ||
		"$lkdf" report --json "$1" >"$1.json" 2>"$dir/log" || return
	python3 - "$1.json" "$2" >"$dir/log" 2>&1 <<'END'
import json
import sys
r = json.load(open(sys.argv[1]))
f = r['findings']
print([(x['id'], x['cost'], x['source'], x['why']) for x in f])
print(r['probe'], r['futexes'])
sys.exit(not eval('(' + sys.argv[2] + ')'))
END
}

# record LOCK SECONDS: $dir/LOCK.lkdf
record() {
	rm -f "$dir/$1.lkdf.json"
	LKDF_TRACE=$dir/$1.lkdf "$convoy" --lock "$1" --seconds "$2" \
		>"$dir/log" 2>&1
}

command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}
record mutex 1
ok $? 'a program is recorded without the probe'
told "$dir/mutex.lkdf" 'r["probe"] is None and r["futexes"] == [] and
	any("lkdf probe start" in x for x in r["lacks"])'
ok $? 'the report says what nobody could see'
"$lkdf" trace check --json "$dir/mutex.lkdf" >"$dir/log"
grep -q '"probed": 0' "$dir/log"
ok $? 'the recording has no chunk of it'

"$lkdf" probe start --dir "$pins" --hz 1000 >"$dir/log" 2>&1 ||
	probe_absent 'a recording has what the probe sees'
trap '"$lkdf" probe stop --dir "$pins" >/dev/null; rm -rf "$dir"' EXIT

# Workers may not meet where two CPUs are not there: then again.
tries=0
until record mutex 2 && told "$dir/mutex.lkdf" 'r["futexes"]' ||
	[ $tries -gt 5 ]; do
	tries=$((tries + 1))
done
if [ $tries -gt 5 ]; then
	skip 'the lock is named' 'the workers do not meet: no second CPU'
else
	told "$dir/mutex.lkdf" 'r["futexes"][0]["symbol"] == "mutex" and
		"mutex (convoy.c)" in r["futexes"][0]["where"]'
	ok $? 'the lock is named by its symbol when the program is gone'
	told "$dir/mutex.lkdf" '[k["name"] for k in
		r["futexes"][0]["kinds"]] == ["node"]'
	ok $? 'with the kind that meets there'
	told "$dir/mutex.lkdf" 'r["futexes"][0]["wait_nodes"] == [0]'
	ok $? 'and the node of those that wait'
fi
if told "$dir/mutex.lkdf" 'r["stacks"]'; then
	told "$dir/mutex.lkdf" 'all(x["callers"] and x["count"] > 0 and
		0 < x["share"] <= 1 and x["kind"] == "node" and
		x["sort"] in ("sleeps", "runs") for x in r["stacks"])'
	ok $? 'callers of bodies are told, of the kind that ran'
else
	skip 'callers of bodies are told' 'this kernel gives the probe no stacks'
fi
told "$dir/mutex.lkdf" 'r["probe"]["seen"] > 0.9 and
	r["probe"]["sees"] == ["switches", "samples", "pages"] and
	r["probe"]["hz"] == 1000'
ok $? 'the probe has seen the time of the workers'
told "$dir/mutex.lkdf" 'all(w["probe"]["sleeps"] > 0 for w in r["worker"])'
ok $? 'and each worker'
told "$dir/mutex.lkdf" 'sum(r["time"][c["id"]] for c in r["classes"]) ==
	r["time"]["all"]'
ok $? 'classes still add up'
told "$dir/mutex.lkdf" 'all(x["source"] == "probe" for x in f
	if x["id"] in ("cpu", "asleep", "futex"))'
ok $? 'evidence is of the probe, not of an estimate'
told "$dir/mutex.lkdf" 'not any("probe" in x for x in r["lacks"])'
ok $? 'nothing of it is missing'

# The same file without its symbols, and another in its place
cp "$convoy" "$dir/convoy"
LD_LIBRARY_PATH=$build LKDF_TRACE=$dir/moved.lkdf "$dir/convoy" --lock mutex --seconds 1 \
	>"$dir/log" 2>&1
cp "$lkdf" "$dir/convoy"
told "$dir/moved.lkdf" 'all(w["symbol"] is None and
	w["object"] == "convoy" for w in r["futexes"])'
ok $? 'another file of that name gives no symbol'

"$lkdf" trace check --json "$dir/mutex.lkdf" >"$dir/log"
! grep -q '"probed": 0,' "$dir/log"
ok $? 'lkdf trace check counts what the probe has told'
"$lkdf" trace convert "$dir/mutex.lkdf" -o "$dir/mutex.json" &&
	grep -q '"ph": "C", "name": "off the CPU, ns: executor 1"' \
		"$dir/mutex.json"
ok $? 'curves in JSON of trace viewers'
# A small one: a parser takes a minute for all of the other.
"$lkdf" trace convert tests/fixtures/report/small.lkdf -o "$dir/small.json" &&
	grep -q '"ph": "C"' "$dir/small.json" &&
	python3 -m json.tool "$dir/small.json" >"$dir/log"
ok $? 'which is JSON'
"$lkdf" trace convert --to csv "$dir/mutex.lkdf" -o "$dir/mutex.csv" &&
	grep -q '^probe,1,futex_ns,' "$dir/mutex.csv"
ok $? 'lines in CSV'
"$lkdf" trace convert --to perfetto "$dir/mutex.lkdf" -o "$dir/mutex.pb" &&
	grep -qa 'executor 1: asleep on futex words' "$dir/mutex.pb"
ok $? 'tracks in the format of perfetto'

# A recording that begins late counts from there, and has words from before.
"$convoy" --lock mutex --seconds 60 >/dev/null 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null; "$lkdf" probe stop --dir "$pins" >/dev/null
	rm -rf "$dir"' EXIT
await "$lkdf" futex -p $pid --dir "$pins" -d 1 >"$dir/log" 2>&1
"$lkdf" trace record -p $pid -o "$dir/late.lkdf" -d 1 >"$dir/log" 2>&1
ok $? 'a process that runs is recorded'
told "$dir/late.lkdf" 'r["probe"]["seen"] > 0.8 and
	r["probe"]["slept"] <= r["wall"] * 3'
ok $? 'its counts are from where the recording began'
kill $pid
wait $pid 2>/dev/null
echo "1..$nr"
exit "$failed"
