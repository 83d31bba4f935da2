#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf report on recordings that are made here with a clock that is made up:
# golden files, five planted problems, clean programs, sums, hard errors.
# GOLDEN=write makes the golden files anew.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
golden=tests/fixtures/report
log=$dir/log
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

# shellcheck source=tests/tools/told.sh
. tests/tools/told.sh

# same FILE NAME: as the golden file
same() {
	if [ "${GOLDEN:-}" = write ]; then
		cp "$1" "$golden/$2"
	fi
	diff "$golden/$2" "$1" >"$log" 2>&1
}

for name in small graph old unknown; do
	made "$name"
	same "$dir/$name.lkdf" "$name.lkdf"
	ok $? "$name: the recording is the one that is kept"
	(cd "$dir" && "$lkdf" report -v "$name.lkdf") >"$dir/text" 2>"$log"
	same "$dir/text" "$name.txt"
	ok $? "$name: the text is as it was"
	(cd "$dir" && "$lkdf" report -v --json "$name.lkdf") >"$dir/json" 2>"$log"
	same "$dir/json" "$name.json"
	ok $? "$name: the JSON is as it was"
done

told taken '"a thread named backup in " in f[0]["why"] and
	"Who got the CPU was looked at " in f[0]["why"]'
ok $? 'taken: it names who got the CPU of workers'
told lock 'next(x for x in f if x["id"] == "cpu")["fix"].startswith("other ") and
	"2.0 of 4 workers wanted a CPU" in
	next(x for x in f if x["id"] == "cpu")["why"]'
ok $? 'lock: workers that sleep want no CPU, so fewer workers are no remedy'
told gone 'f[0]["fix"].startswith("LKDF_WORKERS=1 if there are no more CPUs")'
ok $? 'gone: how many CPUs there are is not known, and not told'
all=1
told hostile '"lkdf try -w 1,2 " in f[-1]["fix"]'
ok $? 'hostile: one worker is not compared with itself'
all=

for name in $(python3 tests/api/report/planted.py --list); do
	told "$name" 'sum(r["time"][c["id"]] for c in r["classes"]) ==
		r["time"]["all"] == r["wall"] * r["workers"]'
	ok $? "$name: classes add up to workers x wall"
	told "$name" 'all(sum(w[c["id"]] for c in r["classes"]) == r["wall"]
		for w in r["worker"])'
	ok $? "$name: each worker's to the wall"
	told "$name" 'sum(s["time"] for s in r["starved"]) ==
		r["time"]["starved"]'
	ok $? "$name: so do the reasons why nothing was ready"
	told "$name" 'r["tasks"] >= r["counted"] - r["lost"]'
	ok $? "$name: bodies and lost ones are those that were counted"
done

told remote 'f[0]["id"] == "remote" and "node 0" in f[0]["fix"]'
ok $? 'a buffer on a far node is finding 1'
told remote '"88 % of all of them are of matrix." in f[0]["why"]'
ok $? 'and the data whose bytes it has are named'
told remote 'f[0]["estimated"] and 0.2 < f[0]["cost"] < 0.35'
ok $? 'with an estimate of what it costs that is right'
told convoy 'f[0]["id"] == "asleep" and "limit" in f[0]["fix"] and
	"update" in f[0]["title"]'
ok $? 'a lock that all want is finding 1, and the kind is named'
told narrowed 'any(x["id"] == "narrow" and
	x["title"].startswith("1 of 4 workers run update: ") and
	"libdemo.so" in x["title"] and "futex word" in x["why"] for x in f)'
ok $? 'a kind that fewer workers run is a finding, with its word'
told passed 'any(x["id"] == "narrow" and
	x["title"] == "narrow could not hold update at 1 of 4 workers" and
	"600 of 900 bodies" in x["why"] for x in f)'
ok $? 'a cap that bodies pass by is not told as one that holds'
told lock 'not any(x["id"] == "narrow" for x in f)'
ok $? 'and none where all run it'
told convoy 'r["probe"] is None and r["futexes"] == [] and
	f[0]["source"] == "schedstat" and "Source: schedstat" in f[0]["why"]'
ok $? 'without the probe the evidence is of schedstat'
told convoy 'any("lkdf probe start" in x for x in r["lacks"])'
ok $? 'and the report says what it could not see'
told lock 'f[0]["id"] == "futex" and f[0]["source"] == "probe" and
	"libdemo.so+0x40" in f[0]["title"] and "update" in f[0]["fix"]'
ok $? 'a lock that the probe has seen is finding 1, with its word and kind'
told lock '0.42 < f[0]["cost"] < 0.5 and "Source: probe." in f[0]["why"]'
ok $? 'at its cost: asleep there, and on a CPU inside futex(2)'
told lock '[x["cost"] for x in f if x["id"] == "asleep"][0] < 0.09'
ok $? 'sleeps elsewhere are a finding of what is left'
told lock '[(w["where"], [k["name"] for k in w["kinds"]]) for w in
	r["futexes"]] == [("libdemo.so+0x40", ["update", "parse"]),
	("block \"table\"+0x40 in heap", ["parse"])]'
ok $? 'words are a table, with kinds, the most time first'
told lock 'sum(w["slept"] for w in r["futexes"]) ==
	sum(k["futex"] for k in r["kinds"])'
ok $? 'kinds have the same time asleep on words'
told lock 'r["futexes"][0]["wake_nodes"] == [0, 1]'
ok $? 'and nodes of wakers'
told lock '[(w["wakes"] > 100, w["waker"]) for w in r["futexes"]] ==
	[(True, {"thread": 1002, "executor": 2, "kind": "parse"}),
	(False, None)]'
ok $? 'who has ended sleeps there, the last one'
told lock '[(x["sort"], x["kind"], x["word"], round(x["share"], 2),
	x["callers"]) for x in r["stacks"]] == [
	("sleeps", "update", "libdemo.so+0x40", 0.75,
	["libdemo.so+0x1100", "libdemo.so+0x21ff"]),
	("sleeps", "parse", "libdemo.so+0x40", 0.25,
	["libdemo.so+0x1100", "libdemo.so+0x32ff"]),
	("runs", "update", None, 1, ["libdemo.so+0x4400"])]'
ok $? 'callers of who sleeps there and of bodies, as many as were taken'
told lock 'not any("probe" in x for x in r["lacks"]) and
	r["probe"]["seen"] > 0.95'
ok $? 'then nothing of the probe is missing'
"$lkdf" report "$dir/lock.lkdf" >"$log"
grep -q '^  (several) .*  libdemo\.so+0x40$' "$log" &&
	grep -q '^  parse .*  block "table"+0x40 in heap$' "$log" &&
	grep -q '^  update .* 75 %  libdemo.so+0x1100, libdemo.so+0x21ff$' \
		"$log"
ok $? 'the text has a row for each word, and for stacks'
told taken 'f[0]["id"] == "cpu" and f[0]["source"] == "probe" and
	0.24 < f[0]["cost"] < 0.26 and "preempted" in f[0]["why"]'
ok $? 'the probe tells preempted time, not the estimate'
told gone 'f[0]["id"] == "cpu" and 0.3 < f[0]["cost"] < 0.45 and
	f[0]["source"] == "probe and schedstat"'
ok $? 'where it went the rest is estimated'
told gone 'any("for all of the time" in x for x in r["lacks"])'
ok $? 'and the report says that it went'
told critical 'f[0]["id"] == "starved" and "split reduce" in f[0]["fix"]'
ok $? 'one slow kind that all wait for is finding 1'
told critical 'f[0]["at"][1] - f[0]["at"][0] >= 5900000'
ok $? 'and the place where that is seen'
told last 'f[0]["id"] == "starved" and
	f[0]["title"] == "Everybody waits for dear, which began last" and
	"start dear first" in f[0]["fix"]'
ok $? 'a dear task that began last, while the program waits, is finding 1'
told last_fixed 'not any(x["id"] in ("starved", "submission") for x in cost)'
ok $? 'begun first, it is none'
told submit 'f[0]["id"] == "submission"'
ok $? 'a thread that submits and waits for nothing is told as before'
told submit '"move that work" in f[0]["fix"] and
	"main, had a CPU for 98" in f[0]["why"]'
ok $? 'one that computes between its calls is told to have that done in tasks'
told submit_sleeps 'f[0]["id"] == "submission" and "it sleeps" in f[0]["fix"]'
ok $? 'one that sleeps there is not told to submit faster'
told submit_calls 'f[0]["id"] == "submission" and
	"lkdf_submit_many()" in f[0]["fix"]'
ok $? 'one that only submits is'
told arena 'f[0]["id"] == "futex" and "libc.so.6" in f[0]["title"] and
	"liblkdf-malloc.so" in f[0]["fix"] and "limit" not in f[0]["fix"]'
ok $? 'a word of libc has no limit for a remedy'
for name in $(python3 tests/api/report/planted.py --list); do
	told "$name" 'all(x["source"] and x["why"].endswith("Source: " +
		x["source"] + ".") for x in f)'
	ok $? "$name: each finding says its source"
done
told window 'f[0]["id"] == "window" and 0.7 < f[0]["cost"] < 0.76 and
	"room in scope \"stage\" of 1 task" in f[0]["title"] and
	".max_tasks of 8" in f[0]["fix"]'
ok $? 'a window that is full is finding 1, by its name, with a size'
told window 'r["waits"] == [{"for": "room in scope \"stage\" of 1 task",
	"fits": 1, "waits": 399, "total": r["waits"][0]["total"],
	"max": r["waits"][0]["max"]}]'
ok $? 'and waits of the program are a table'
told window_fixed 'not cost'
ok $? 'with room for two tasks a worker it costs nothing'
told window 'len(f) == 1' && told limit 'len(f) == 1' &&
	told window_fixed 'not any(x["id"] == "chain" or "chain" in x["why"]
		for x in f)'
ok $? 'a chain that goes through waits for room or tokens is no bound of the run'
told order 'f[0]["id"] == "order" and 0.7 < f[0]["cost"] < 0.76 and
	"500 lookup run one after another: RW on config" in f[0]["title"] and
	not any(x["id"] == "chain" for x in f) and
	"READ would let them run together" in f[0]["fix"]'
ok $? 'a mode that puts tasks in order is finding 1, with the data'
told order_fixed 'not cost'
ok $? 'with READ they cost nothing'
told sealed 'f[0]["id"] == "order" and 0.7 < f[0]["cost"] < 0.76 and
	f[0]["title"] == "499 lookup run one after another: RW on config" and
	"READ would let them run together" in f[0]["fix"]'
ok $? 'in a sealed graph the data of its edges is named'
told sealed_port 'f[0]["id"] == "order" and f[0]["title"] ==
	"499 lookup run one after another: they wait for port 0 of lookup" and
	"earlier" in f[0]["fix"]'
ok $? 'or the port whose value they wait for'
told sealed_partly 'not any(x["id"] == "order" for x in f) and
	any(x["id"] == "chain" and "100 steps of lookup waited last for config."
	in x["why"] for x in f)'
ok $? 'a chain in which data makes fewer steps wait names the data, too'
told mapped 'f[0]["id"] == "kernel" and 0.85 < f[0]["cost"] < 0.91 and
	"fill spends" in f[0]["title"] and "256 page faults" in f[0]["why"] and
	"keep memory" in f[0]["fix"] and
	f[0]["source"] == "/proc/PID/task/TID/stat"'
ok $? 'bodies that are in the kernel are finding 1, with their page faults'
told mapped '[c["lacks"] for c in r["classes"] if c["id"] == "kernel"] ==
	[None] and 500000 < sum(k["faults"] for k in r["kinds"]) < 513000'
ok $? 'and each kind has its faults'
told mapped_mixed 'f[0]["id"] == "kernel" and
	"Kinds take turns too fast" in f[0]["why"]'
ok $? 'where samples do not tell kinds apart none is blamed'
told mapped_fixed 'not cost'
ok $? 'with the memory kept they cost nothing'
told regions 'f[0]["id"] == "region" and 0.3 < f[0]["cost"] < 0.5 and
	f[0]["title"] == "step, region 1 is too small: 6.00 µs for 2 threads" and
	"2 000 times" in f[0]["why"] and "num_threads()" in f[0]["fix"] and
	not any(x["id"] == "late" for x in f)'
ok $? 'regions whose threads begin when the work is done are finding 1'
told regions_fixed 'not cost and not any(x["id"] == "chain" for x in f)'
ok $? 'with the work of many they cost nothing'
told regions_uneven 'f[0]["id"] == "starved" and 0.2 < f[0]["cost"] < 0.3 and
	"while step, region 1 runs" in f[0]["title"] and
	"schedule(dynamic)" in f[0]["fix"]'
ok $? 'threads of which one ends last have a schedule for a remedy'
told service 'not cost and f[0]["id"] == "load" and
	"Not loaded" in f[0]["title"]'
ok $? 'an idle service has no cause that costs'
told pooled 'any(x["id"] == "late" and "step waits longest" in x["why"] for x in f)'
ok $? 'a kind of the blocking pool does not wait for workers'
told pooled '[(x["sort"], x["cost"]) for x in f if x["id"] == "pool" and
	"log waits for threads of the blocking pool" in x["title"] and
	"2 threads" in x["why"]] == [("bound", None)]'
ok $? 'but for threads of the pool'
told quota 'f[0]["id"] == "cpu" and "LKDF_WORKERS=2" in f[0]["fix"]'
ok $? 'more workers than the quota has CPUs is finding 1'
told io 'f[0]["id"] == "io" and "under way" in f[0]["fix"] and
	"read" in f[0]["title"]'
ok $? 'too few operations under way is finding 1'
told limit 'f[0]["id"] == "limit" and "\"disk\" of 1 token" in f[0]["title"]
	and 0.7 < f[0]["cost"] < 0.76 and "store" in f[0]["why"]'
ok $? 'a limit that all wait for is finding 1, by its name'
told limit 'r["limits"] == [{"name": "limit \"disk\" of 1 token",
	"kind": "store", "waits": 99, "total": r["limits"][0]["total"],
	"max": max(x["at"][1] for x in f if x["id"] == "limit")}]'
ok $? 'and the kinds that waited for it are a table'
"$lkdf" report "$dir/limit.lkdf" >"$log"
grep -q '^  store  .* 99  .*  limit "disk" of 1 token$' "$log"
ok $? 'in the text, too'
for name in clean pipeline; do
	told "$name" 'not cost'
	ok $? "$name: no cause takes 2 %"
	told "$name" 'f[0]["id"] == "workers" and f[0]["sort"] == "bound"'
	ok $? "$name: workers have enough to do"
	told "$name" '"not known" in f[0]["title"] and
		"lkdf try -w 1," in f[0]["fix"]'
	ok $? "$name: whether bodies are slower together is not known"
	"$lkdf" report "$dir/$name.lkdf" >"$log"
	grep -q 'nothing outside of bodies' "$log"
	ok $? "$name: the text says that nothing outside of bodies costs"
done
told device '[(d["kernels"], d["copies"], d["up"], d["down"]) for d in
	r["devices"]] == [(2, 2, 1 << 20, 1 << 19)]'
ok $? 'a device has so many kernels and copies, of so many bytes'
told device '[(d["busy"], d["copying"], d["both"], d["idle"]) for d in
	r["devices"]] == [(60000000, 30000000, 10000000, 20000000)]'
ok $? 'and was at kernels, at copies, at both and at nothing for so long'
told device '[(d["waits"], d["waited"], d["longest_wait"]) for d in
	r["devices"]] == [(1, 40000000, 40000000)]'
ok $? 'and a kernel has waited for its memory'
told device 'r["tasks"] == 4 and f[0]["id"] == "device" and
	"gpu, a card" in f[0]["title"]'
ok $? 'workers that wait for a device are finding 1, by its name'
"$lkdf" report "$dir/device.lkdf" >"$log"
grep -q '^  d0  .* 60 %  .* 1.00 MiB  *512 KiB .* 30 % .* gpu, a card$' "$log"
ok $? 'the text has a row for it'
told two '[x["id"] for x in cost] == ["asleep", "starved"] and
	"tail" in cost[1]["fix"]'
ok $? 'of two causes the costly one is first'
told two 'abs(cost[0]["cost"] - 0.304) < 0.01 and
	abs(cost[1]["cost"] - 0.098) < 0.01'
ok $? 'and both costs are what was planted'
told small 'any(x["id"] == "lost" for x in f)'
ok $? 'bodies that were lost are a finding'
told old 'r["lacks"] and f[0]["id"] == "idle"'
ok $? 'a recording without the facts has fewer findings and says so'
told graph '[k["wait50"] for k in r["kinds"]] == [2000, 1000, 1000, 1000]'
ok $? 'tasks of a graph were ready when those before them ended'
# nobody NAME: no number of that report says that bytes are near
nobody() {
	told "$1" 'r["flow"] is None and
		all(k["local"] == k["remote"] == 0 for k in r["kinds"])' &&
		"$lkdf" report "$dir/$1.lkdf" >"$log" &&
		grep -q '^  tile .* -$' "$log"
}
nobody unknown
ok $? 'a sum of bytes after the last body counts: nobody knows their nodes'
told unknown '"bytes by node: on which one most of them are, nobody knows" in
	r["lacks"]'
ok $? 'and the report says so'
nobody made_up
ok $? 'on a topology that is made up no share of remote bytes is told'
told made_up '"bytes by node: the topology is made up, so nobody knows on " +
	"which of its nodes pages lie" in r["lacks"]'
ok $? 'and the report says why'
told partly 'r["flow"] == [[5 * 65536, 0], [5 * 65536, 0]] and
	any("of which nobody knows count as near" in x for x in r["lacks"])'
ok $? 'where many bytes are unknown the others are told, and that they are some'
told small 'r["flow"] == [[1 << 20, 2 << 20]] * 2'
ok $? 'small: bytes by node are those of the last sum'
told growing 'r["flow"] == [[0, 20 * 65536]] * 2'
ok $? 'what grew after the last sum within the run counts'
told wild 'r["nodes"] == [0] and r["flow"] == [[20 * 65536]]'
ok $? 'a node beyond what a machine has is none'
# window FROM TO: bytes of a node in it, in tiles
window() {
	"$lkdf" report "$dir/growing.lkdf" --from "$1" --to "$2" --json \
		>"$dir/json" && python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(r["flow"][0][1] / 65536)' "$dir/json"
}
window 0ms 10ms >"$log" && grep -qx '10.0' "$log"
ok $? 'a window has the bytes of its sums'
window 14ms 16ms >"$log" && grep -q '^1\.99' "$log"
ok $? 'and of a sum beyond it by its share of the time'
told joins 'not any(x["id"] == "chain" for x in f)'
ok $? 'a body that waits for its children is no chain'

made critical
"$lkdf" report "$dir/critical.lkdf" --from 4.4ms --to 10.2ms --json >"$dir/json"
python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
sys.exit(r["wall"] != 5800000 or r["from"] != 4400000)' "$dir/json"
ok $? 'a window is as long as was asked for'
"$lkdf" report "$dir/critical.lkdf" --kind reduce >"$log"
grep -q reduce "$log" && ! grep -q map "$log"
ok $? 'one kind can be asked for'
"$lkdf" report "$dir/critical.lkdf" --kind reducer >"$log" 2>&1
[ $? -eq 5 ]
ok $? 'one that is not there is told'
"$lkdf" report "$dir/critical.lkdf" --from 9 --to 3 >"$log" 2>&1
[ $? -eq 2 ]
ok $? 'a window that ends before it begins is refused'

made hostile
"$lkdf" report "$dir/hostile.lkdf" >"$log"
! LC_ALL=C grep -q "$(printf '[\033\177]')" "$log"
ok $? 'no name moves the cursor of a terminal'

told requests '[(q["name"], q["region"], q["requests"], q["max"] // 1000)
	for q in r["requests"]] == [("parse", False, 1000, 3100),
	("batch", True, 10, 10000)]'
ok $? 'requests are told by their first kind, regions by their label'
told requests '[(x["p50"] // 1000, x["p90"] // 1000, x["p99"] // 1000,
	x["p999"] // 1000) for x in r["requests"]] ==
	[(200, 200, 3100, 3100), (6000, 10000, 10000, 10000)]'
ok $? 'with the time of half of them up to the slowest'
told requests 'len(r["requests"][0]["slowest"]) == 10 and
	all([s["kind"] for s in x["steps"]] == ["parse", "find", "answer"] and
	x["tasks"] == 3 and x["latency"] > 3000000 and
	x["steps"][2]["end"] == x["begin"] + x["latency"]
	for x in r["requests"][0]["slowest"])'
ok $? 'and the slowest ten with all of their bodies'
told requests '[(m["label"], m["value"]) for m in r["marks"]] ==
	[("bytes", 1000 * i) for i in range(10)]'
ok $? 'marks have their values'
"$lkdf" report "$dir/requests.lkdf" >"$log"
grep -q '^  parse  .* 1.000 .* 3.10 ms  *3.10 ms$' "$log" &&
	grep -q '^  batch  .* 10.0 ms  region$' "$log"
ok $? 'the text has a row for both'
"$lkdf" trace convert --to chrome "$dir/requests.lkdf" --out "$dir/json" \
	>"$log" 2>&1 && python3 - "$dir/json" >>"$log" 2>&1 <<'END'
import json, sys
e = json.load(open(sys.argv[1]))['traceEvents']
assert [x['args']['value'] for x in e if x.get('cat') == 'mark' and
        x['ph'] == 'C' and x['name'] == 'bytes'] == [1000 * i
                                                     for i in range(10)]
assert sum(x.get('cat') == 'region' and x['name'] == 'batch'
           for x in e) == 20
END
ok $? 'Chrome gets them as curves and pairs'
"$lkdf" trace convert --to perfetto "$dir/requests.lkdf" --out "$dir/pf" \
	>"$log" 2>&1 && [ "$(grep -ac batch "$dir/pf")" -gt 0 ] &&
	[ "$(grep -ac bytes "$dir/pf")" -gt 0 ]
ok $? 'Perfetto, too'

told again '[(q["name"], q["requests"]) for q in r["requests"]] ==
	[("ask", 100), ("tell", 10)] and
	all(x["tasks"] == (3 if q["name"] == "ask" else 1)
	for q in r["requests"] for x in q["slowest"])'
ok $? 'a task that waits at a channel stays one request, whoever wakes it'
told again 'all([(s["kind"], s["waits_for"]) for s in x["steps"]] ==
	[("ask", None), ("ask", "values of channel \"replies\""),
	("log", None)] and x["steps"][1]["away"] > 7900000 and
	x["latency"] > x["steps"][1]["away"]
	for x in r["requests"][0]["slowest"])'
ok $? 'with the time that it was away, and for what'
"$lkdf" trace convert --to chrome "$dir/again.lkdf" --out "$dir/json" \
	>"$log" 2>&1 && python3 - "$dir/json" >>"$log" 2>&1 <<'END'
import json, sys
e = json.load(open(sys.argv[1]))['traceEvents']
away = [x for x in e if x.get('cat') == 'away']
begin = {x['id']: x for x in away if x['ph'] == 's'}
end = {x['id']: x for x in away if x['ph'] == 'f'}
bodies = [(x['tid'], x['ts']) for x in e if x['ph'] == 'X' and
          x['name'] == 'ask']
assert len(begin) == len(end) == 100
assert all((x['tid'], x['ts']) in bodies for x in end.values())
assert sum(x['ph'] in 'be' and 'replies' in x['name'] for x in away) == 200
END
ok $? 'Chrome draws an arrow from one body of the task to the next'
"$lkdf" trace convert --to perfetto "$dir/again.lkdf" --out "$dir/pf" \
	>"$log" 2>&1 && [ "$(grep -aoc 'goes on' "$dir/pf")" -gt 0 ] &&
	[ "$(grep -aoc 'tasks between bodies' "$dir/pf")" -gt 0 ]
ok $? 'and Perfetto'

ids=$(sed -n 's/.*find_add(r, \(.*\)/\1/p' tools/report/*.c |
	grep -o '"[a-z]*"' | tr -d '"' | sort -u)
[ "$(echo "$ids" | wc -l)" -gt 20 ] && for id in $ids; do
	grep -q "(\`\`$id\`\`)" Documentation/findings.rst &&
		grep -q "^\`\`$id\`\` " Documentation/report.rst ||
		echo "$id"
done >"$log"
[ ! -s "$log" ]
ok $? 'each finding is on the page that says what it means' "$log"

# Hard errors
"$lkdf" report "$dir/small.lkdf" >/dev/full 2>"$log"
[ $? -eq 4 ] && grep -q 'standard output: No space' "$log"
ok $? 'a full disk is told'
"$lkdf" report "$dir/small.lkdf" --html /dev/full >"$log" 2>&1
[ $? -eq 4 ] && grep -q '/dev/full: No space' "$log"
ok $? 'of the page, too'
"$lkdf" report "$dir/none.lkdf" >"$log" 2>&1
[ $? -eq 5 ]
ok $? 'a file that is not there is gone'
"$lkdf" report "$lkdf" >"$log" 2>&1
[ $? -eq 6 ]
ok $? 'a file of another sort is damaged'
"$lkdf" report /dev/stdin <"$dir/small.lkdf" >"$log" 2>&1
ok $? 'a file on standard input is read'
# shellcheck disable=SC2002
cat "$dir/small.lkdf" | "$lkdf" report /dev/stdin >"$log" 2>&1
[ $? -eq 4 ] && grep -q 'no regular file' "$log"
ok $? 'a pipe is refused with the reason'
head -c 900 "$dir/small.lkdf" >"$dir/cut.lkdf"
"$lkdf" report "$dir/cut.lkdf" >"$log" 2>&1
[ $? -eq 6 ] && grep -q 'best-effort' "$log"
ok $? 'a cut file is damaged, and --best-effort is named'
"$lkdf" report --best-effort "$dir/cut.lkdf" >"$log" 2>&1 &&
	grep -q 'ends in the middle' "$log"
ok $? 'which reports on what is there, and says so'

# The targets run and tour of the Makefile
"$lkdf" report "$dir/two.lkdf" >"$dir/text"
tools/report/first.sh "$dir/text" >"$log"
grep -q '^  1  30 %' "$log" && ! grep -q '^  2' "$log" &&
	grep -q 'lkdf_limit_create' "$log"
ok $? 'the first finding of a text can be told'
DISPLAY='' WAYLAND_DISPLAY='' tools/report/tour.sh "$build" "$dir/tour" \
	>"$log" 2>"$dir/err" && [ -s "$dir/tour/cholesky.html" ] &&
	[ -s "$dir/tour/remote.html" ] && [ -s "$dir/tour/lock.html" ] &&
	grep -q 'Bodies sleep: node' "$dir/tour/lock.txt" &&
	grep -q 'come from another node' "$dir/tour/remote.txt"
ok $? 'the tour writes three pages, finds the lock and the far bytes'
[ ! -s "$dir/err" ]
ok $? 'and prints nothing of the programs that it runs' "$dir/err"
nodes=$("$lkdf" topo | grep -c '^[^ ]* node [0-9]')
grep -q 'has one node' "$log"
[ $(($? == 0)) = $((nodes == 1)) ]
ok $? 'and says where it has a recording, as the machine has one node'

# A signal at any time: a whole page or none, and no half of one.
mkdir "$dir/pages"
"$limit" 180 python3 - "$lkdf" "$dir/remote.lkdf" "$dir/pages" >"$log" 2>&1 <<'END'
import os, signal, subprocess, sys
lkdf, trace, folder = sys.argv[1:]
page = folder + '/a.html'
for i in range(30):
    p = subprocess.Popen([lkdf, 'report', trace, '--html', page],
                         stdout=subprocess.DEVNULL)
    for _ in range(i * 2000):
        if any(x.endswith('.tmp') for x in os.listdir(folder)):
            break
    p.send_signal(signal.SIGINT)
    p.wait()
    assert not [x for x in os.listdir(folder) if x.endswith('.tmp')], i
    if os.path.exists(page):
        assert open(page).read().endswith('</html>\n'), i
        os.unlink(page)
END
ok $? 'a signal leaves a whole page or none'

echo "1..$nr"
[ "$failed" -eq 0 ]
