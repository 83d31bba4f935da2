#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What a recording says of devices: a row for each queue, for copies and for
# kernels that wait for memory; kernels that were given ahead of their tasks;
# what they made ready; and how the tools show it.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
pid=
trap 'kill -9 $pid 2>/dev/null; rm -rf "$dir"' EXIT
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

# says FACT EXPRESSION: of rows (dicts of CSV) and r (the report)
says() {
	python3 - "$dir/a.csv" "$dir/a.json" "$2" >"$dir/log" 2>&1 <<'END'
import csv, json, sys
rows = list(csv.DictReader(open(sys.argv[1])))
r = json.load(open(sys.argv[2]))
def of(sort, name=None):
    return [x for x in rows if x['sort'] == sort and name in (None, x['name'])]
def span(x):
    return int(x['begin_ns']), int(x['end_ns'])
steps, adds = of('kernel', 'step'), of('kernel', 'add')
good = eval('(' + sys.argv[3] + ')')
print(len(steps), len(adds), r['devices'])
sys.exit(not good)
END
	ok $? "$1"
}

# recorded: all that the tools make of $dir/a.lkdf
recorded() {
	"$lkdf" trace check "$dir/a.lkdf" >"$dir/log" 2>&1 &&
		"$lkdf" trace convert --to csv "$dir/a.lkdf" -o "$dir/a.csv" &&
		"$lkdf" report --json "$dir/a.lkdf" >"$dir/a.json"
}

device_target
ok $? 'a program with devices compiles'

LKDF_TRACE=$dir/a.lkdf "$limit" 60 "$dir/device_target" whole >"$dir/log" 2>&1
ok $? 'it runs and is recorded'
recorded
ok $? 'the recording is whole'
says 'each kernel of the graph is there, given ahead or not' \
	'sorted(int(x["value"]) for x in steps) == list(range(200))'
says 'in one row, where none overlaps another' 'len(set(x["lane"] for x in
	steps)) == 1 and all(span(a)[1] <= span(b)[0] for a, b in
	zip(sorted(steps, key=span), sorted(steps, key=span)[1:]))'
says 'each made ready by the one before it in its queue' \
	'all((x["by_lane"], int(x["by_number"]) + 1) ==
	(x["lane"], int(x["number"])) for x in steps[1:])'
says 'bytes went to the device once, and came back once' \
	'[(x["name"], x["value"]) for x in of("copy") if x["value"] == "512"] ==
	[("upload", "512"), ("fetch", "512")]'
says 'kernels of tasks have no number in a graph' \
	'[x["value"] for x in adds] == ["-1", "-1"]'
says 'they became ready when they were submitted' \
	'all(0 < int(x["ready_ns"]) <= span(x)[0] for x in adds)'
says 'one has waited for memory, until the other had gone' \
	'[x["value"] for x in of("room")] == ["32768"] and
	span(adds[0])[1] <= span(of("room")[0])[1]'
says 'the report has both devices, by name' \
	'[(d["name"], d["kernels"], d["up"], d["down"], d["waits"]) for d in
	r["devices"]] == [("emu, emulated", 200, 512, 512, 0),
	("emu, emulated", 2, 65536, 32768, 1)]'
says 'and their time adds up' 'all(d["busy"] + d["copying"] - d["both"] +
	d["idle"] == r["wall"] and d["both"] <= min(d["busy"], d["copying"])
	for d in r["devices"])'
says 'a kernel is one task' 'r["tasks"] == 203'
says 'a body behind kernels was made ready by the last one' \
	'[k["wait50"] <= int(of("body", "see")[0]["begin_ns"]) - max(span(x)[1]
	for x in steps) + 1 for k in r["kinds"] if k["name"] == "see"] == [True]'
says 'what brings bytes home was made ready by the kernel that wrote them' \
	'[(x["by_lane"], x["by_number"]) for x in of("copy", "fetch") if
	x["value"] == "512"] == [(steps[-1]["lane"], steps[-1]["number"])]'
says 'and the longest chain goes through them' 'r["chain"]["tasks"] >= 200'

"$lkdf" trace convert "$dir/a.lkdf" -o "$dir/chrome" 2>"$dir/log" &&
	python3 - "$dir/chrome" >"$dir/log" 2>&1 <<'END'
import json, sys
e = json.load(open(sys.argv[1]))['traceEvents']
name = {x['tid']: x['args']['name'] for x in e if x['name'] == 'thread_name'}
print(name)
def rows(cat):
    return sorted(set(name[x['tid']] for x in e if x.get('cat') == cat))
assert rows('kernel') == ['d0 emu queue 0', 'd1 emu queue 0',
                          'd1 emu queue 1'], rows('kernel')
assert rows('copy') == ['d0 emu fetch', 'd0 emu upload', 'd1 emu fetch',
                        'd1 emu upload'], rows('copy')
assert rows('room') == ['d1 emu memory']
assert {x['args']['bytes'] for x in e if x.get('cat') == 'copy'} == \
    {512, 32768}
END
ok $? 'rows have names in Chrome JSON'
"$lkdf" trace convert --to perfetto "$dir/a.lkdf" -o "$dir/pb" 2>"$dir/log" &&
	grep -aq 'd0 emu queue 0' "$dir/pb" && grep -aq 'd1 emu memory' "$dir/pb"
ok $? 'and in protobuf for Perfetto' "$dir/log"

LKDF_SERIAL=yes LKDF_TRACE=$dir/a.lkdf "$limit" 60 "$dir/device_target" \
	serial >"$dir/log" 2>&1 && recorded
ok $? 'a runtime without threads is recorded, too'
says 'with all of its kernels' 'len(steps) == 200'

start_target "$dir/device_target" busy
for time in 1 2; do
	try 0 "a process that runs is recorded, time $time" "$lkdf" trace record \
		-p "$pid" -o "$dir/a.lkdf" -d 1
	await recorded
	ok $? "the recording is whole, time $time"
	says "with kernels and copies of both devices, time $time" \
		'len(r["devices"]) == 2 and all(d["kernels"] and d["name"] ==
		"emu, emulated" for d in r["devices"])'
done
try 0 'lkdf top has a row for each device' "$lkdf" top -p "$pid" --batch \
	--view devices -n 2 -I 300
holds '^d0 *emu .* %'
holds '^d1 *emu .* %'
"$lkdf" top --json -p "$pid" -n 2 -I 300 >"$dir/json" 2>"$dir/log" &&
	python3 - "$dir/json" >"$dir/log" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
print(t['each_device'])
assert [d['device'] for d in t['each_device']] == [0, 1]
assert all(d['per_second']['kernels'] > 0 and d['sort'] == 'emu' and
           0 < d['used'] <= d['capacity'] for d in t['each_device'])
assert [d['held'] for d in t['each_device']] == [12288, 0]
END
ok $? 'with kernels and memory, as JSON'
try 0 'lkdf stat counts for each device' "$lkdf" stat -p "$pid"
holds '^ *[0-9][0-9]*    d0 emu$'
holds '^ *[0-9][0-9]*    d1 emu$'
"$lkdf" stat --json -p "$pid" >"$dir/json" 2>"$dir/log" &&
	python3 - "$dir/json" >"$dir/log" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
d = t['devices']
print(d)
assert len(d) == 2 and all(x['device.kernels'] > 0 for x in d)
assert all(x['used'] > 0 for x in d)
assert [x['held'] for x in d] == [12288, 0]
END
ok $? 'as JSON, too'

try 0 'lkdf device lists those of a process' "$lkdf" device -p "$pid" -v
holds '^d0 *emu .* of 1.00 MiB .*  emulated$'
holds '^d1 *emu .* of 48.0 KiB .*  emulated$'
holds 'queues that keep their order *yes'
holds 'held by the program *12.0 KiB$'
"$lkdf" device --json -p "$pid" >"$dir/json" 2>"$dir/log" &&
	python3 - "$dir/json" "$pid" >"$dir/log" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
print(t)
assert t['schema'] == 'lkdf/device/1' and t['pid'] == int(sys.argv[2])
assert [(d['device'], d['sort'], d['queues'], d['lost']) for d in
        t['devices']] == [(0, 'emu', 1, False), (1, 'emu', 2, False)]
assert all(d['kernels'] and d['kernels_ns'] and d['used'] <= d['capacity']
           for d in t['devices'])
assert [d['held'] for d in t['devices']] == [12288, 0]
END
ok $? 'with numbers, as JSON'
stop_target KILL
try 124 'lkdf run --timeout says what waits for a device' "$lkdf" run -T 3 \
	"$dir/device_target" room
holds 'waits for 32768 bytes on device emu: 32768 of its 49152 are in use'
try 5 'a process without a runtime has none' "$lkdf" device -p $$
try 2 'one of both' "$lkdf" device -p $$ -o devices=opencl

# What this machine has through OpenCL: POCL, or nothing.
export POCL_CACHE_DIR="$build/pocl.cache" POCL_MAX_PTHREAD_COUNT=2
try 4 'without an OpenCL library it says why' "$lkdf" device -o \
	devices=opencl,opencl_library=libno.so
holds 'there is no device: opencl: no OpenCL library'
holds 'try:   lkdf doctor'
"$lkdf" doctor >"$dir/log" 2>&1
holds '^\(ok\|none\) *opencl: '
holds '^none *cuda: '
if grep -q '^ok *opencl: ' "$dir/log"; then
	try 0 'devices of OpenCL are listed' "$lkdf" device -v
	holds '^d0 *opencl '
	holds 'threads of a block  *[1-9]'
else
	grep -q 'fix: .*pocl-opencl-icd' "$dir/log"
	ok $? 'the fix is a package' "$dir/log"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
