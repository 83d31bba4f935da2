#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf trace record -p: a process that works, and whatever may end a recording
# of it: the time, a signal, the tool, the process, a full disk. Each file is
# whole, and tells no time for which nobody was there.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/target.sh
. tests/tools/target.sh
lkdf=$build/lkdf
target=$dir/ask_target
pid=
tool=
full=
trap 'kill -9 $pid $tool 2>/dev/null; [ -z "$full" ] || umount "$full"
	rm -rf "$dir"' EXIT

# More than what stands before the slices.
# shellcheck disable=SC2317
has_slices() {
	[ "$(stat -c %s "$1" 2>/dev/null || echo 0)" -gt 65536 ]
}

# record FILE [FILE]...: $tool does, until it is ended, and has slices in all.
record() {
	"$lkdf" trace record -p "$pid" -o "$1" >"$dir/log" 2>&1 &
	tool=$!
	for file; do
		await has_slices "$file"
	done
}

# The tool has ended by itself.
ended() {
	wait $tool
	[ $? -eq "$1" ]
	ok $? "$2"
	tool=
}

# shellcheck disable=SC2317
check() {
	"$lkdf" trace check "$1" >"$dir/check" 2>&1
}

# whole FILE: it is, when the runtime has ended it.
whole() {
	await check "$1"
	grep -q 'whole, [1-9]' "$dir/check"
	ok $? "$(basename "$1") is whole and holds slices" "$dir/check"
}

ask_target
ok $? 'a process to be recorded'

try 2 'into which file?' "$lkdf" trace record -p $$
try 2 'for how long?' "$lkdf" trace record -p $$ -o "$dir/x" -d -1
try 5 'a process without a runtime' "$lkdf" trace record -p $$ -o "$dir/x"
[ ! -e "$dir/x" ]
ok $? 'no file is made for it'

start_target "$target" busy 2
try 0 'two runtimes for a second' \
	"$lkdf" trace record -p "$pid" -o "$dir/a.lkdf" -d 1
holds 'a.lkdf: [1-9][0-9]* slices, [0-9]* lost$'
whole "$dir/a.lkdf"
whole "$dir/a.1.lkdf"
[ "$(stat -c %a "$dir/a.lkdf")" = 600 ]
ok $? 'a file is for its owner only'
try 0 'a report reads it' "$lkdf" report --json "$dir/a.lkdf"
python3 - "$dir/log" >"$dir/why" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
kinds = {k["name"]: k for k in t["kinds"]}
assert "compute" in kinds, kinds
# Since the recording began, not since the runtime opened; bodies that ran when
# it was switched on or off are counted and may have no slice.
told = t["tasks"] + t["lost"]
assert told <= t["counted"] + 4, t
assert t["counted"] < 1.5 * told + 1000, (t["counted"], told)
END
ok $? 'which counts what ran meanwhile' "$dir/why"
try 0 'once more, as JSON' \
	"$lkdf" trace record -p "$pid" -o "$dir/a.lkdf" -d 0.5s --json
python3 - "$dir/log" >"$dir/why" 2>&1 <<'END'
import json, sys
text = open(sys.argv[1]).read()
t = json.loads(text[text.index("{"):])
assert t["schema"] == "lkdf/trace_record/1"
assert [f["file"][-6:] for f in t["files"]] == ["a.lkdf", "1.lkdf"]
assert all(f["slices"] > 0 and not f["cut"] for f in t["files"])
END
ok $? 'says what it came to' "$dir/why"
whole "$dir/a.lkdf"
mkdir "$dir/folder"
try 2 'a folder is no file' \
	"$lkdf" trace record -p "$pid" -o "$dir/folder" -d 1
[ -d "$dir/folder" ]
ok $? 'and is still there'

# kinds PATTERN: sooner or later lkdf top says so.
# shellcheck disable=SC2317
kinds() {
	"$lkdf" top -b -n 1 -I 100 -w kinds -p "$pid" >"$dir/log" 2>&1 &&
		grep -q "$1" "$dir/log"
}

kinds 'known while the process is recorded: lkdf trace record'
ok $? 'lkdf top has no kinds while nobody records'
record "$dir/b.lkdf"
await kinds '^compute  *[0-9.k]* .*[0-9] %'
ok $? 'it has those of bodies while lkdf trace record runs'
"$lkdf" top --json -I 100 -p "$pid" >"$dir/log" 2>&1
python3 - "$dir/log" >"$dir/why" 2>&1 <<'END'
import json, sys
t = json.load(open(sys.argv[1]))
k = {k["name"]: k for k in t["kinds"]}
assert t["is_recorded"] and k["compute"]["p50_us"] > 0, t["kinds"]
assert "(more)" not in k, t["kinds"]
END
ok $? 'as JSON, too' "$dir/why"
try 4 'two at a time' "$lkdf" trace record -p "$pid" -o "$dir/c.lkdf" -d 1
holds 'recorded already'
[ ! -e "$dir/c.lkdf" ]
ok $? 'the second one leaves no file'
try 0 'lkdf why is answered meanwhile' "$lkdf" why -p "$pid"
kill -INT $tool
ended 0 'SIGINT ends it'
whole "$dir/b.lkdf"
await kinds 'known while the process is recorded'
ok $? 'lkdf top has no kinds when the recording is over'
[ "$(readlink /proc/$pid/fd/* | grep -c '^/memfd:lkdf:slices')" = 2 ]
ok $? 'a memfd for each runtime, however often it was recorded'

record "$dir/d.lkdf" "$dir/d.1.lkdf"
kill -9 $tool
wait $tool 2>/dev/null
tool=
whole "$dir/d.lkdf"
whole "$dir/d.1.lkdf"
try 0 'when the tool was killed the next one records' \
	"$lkdf" trace record -p "$pid" -o "$dir/e.lkdf" -d 1
whole "$dir/e.lkdf"

record "$dir/f.lkdf"
kill -USR1 "$pid"
wait "$pid"
ok $? 'a process that ends while it is recorded ends as ever' "$dir/err"
pid=
ended 0 'and so does the recording'
whole "$dir/f.lkdf"
grep -q 'f.lkdf: [1-9][0-9]* slices' "$dir/log"
ok $? 'which the runtime has ended'

start_target "$target" busy 2
record "$dir/g.lkdf" "$dir/g.1.lkdf"
stop_target KILL
ended 0 'a process that is killed ends the recording'
whole "$dir/g.lkdf"
whole "$dir/g.1.lkdf"

start_target "$target" locked
try 0 'bodies that run all the time' \
	"$lkdf" trace record -p "$pid" -o "$dir/h.lkdf" -d 1
try 0 'a report of that' "$lkdf" report "$dir/h.lkdf"
grep -q '(begun before)  *2 ' "$dir/log"
ok $? 'says that they had begun before'
python3 - "$lkdf" "$dir/h.lkdf" >"$dir/why" 2>&1 <<'END'
import json, subprocess, sys
t = json.loads(subprocess.run([sys.argv[1], "report", "--json", sys.argv[2]],
			      capture_output=True).stdout)
time = t["time"]
assert time["asleep"] > 0.9 * time["all"] > 0, time
END
ok $? 'and that they sleep' "$dir/why"
stop_target KILL

if command -v prlimit >/dev/null; then
	start_target prlimit --fsize=16777216 "$target" busy 1
	record "$dir/j.lkdf"
	await kinds 'others cannot map'
	ok $? 'lkdf top says so where a limit of file sizes leaves no memfd'
	kill -INT $tool
	ended 0 'and the recording is there all the same'
	whole "$dir/j.lkdf"
	stop_target KILL
else
	skip 'a limit of file sizes' 'there is no prlimit'
fi

if [ "$(id -u)" = 0 ] && mkdir "$dir/full" &&
	mount -t tmpfs -o size=64k none "$dir/full" 2>/dev/null; then
	full=$dir/full
	start_target "$target" busy 1
	try 4 'a full disk is told' \
		"$lkdf" trace record -p "$pid" -o "$full/a.lkdf" -d 2
	holds 'No space left'
	whole "$full/a.lkdf"
	try 0 'and hurts nobody' \
		"$lkdf" trace record -p "$pid" -o "$dir/i.lkdf" -d 1
	whole "$dir/i.lkdf"
	stop_target KILL
	umount "$full" && full=
else
	skip 'a full disk is told' 'no disk to be had that can be filled'
fi

# What a flight recorder holds, as often as somebody asks.
start_target env LKDF_TRACE_LAST=60 LKDF_TRACE="$dir/own.lkdf" "$target" busy 2
for time in 1 2; do
	rm -f "$dir/last.lkdf" "$dir/last.1.lkdf"
	try 0 "the last seconds, time $time" "$lkdf" trace record --last \
		-p "$pid" -o "$dir/last.lkdf"
	"$lkdf" trace check "$dir/last.lkdf" >"$dir/log" 2>&1 &&
		"$lkdf" trace check "$dir/last.1.lkdf" >>"$dir/log" 2>&1
	ok $? "the files of both runtimes are whole, time $time"
	"$lkdf" report "$dir/last.lkdf" >"$dir/log" 2>&1
	holds 'compute '
done
[ ! -e "$dir/own.lkdf" ]
ok $? 'the file of the program itself is not written for that'
try 2 'what comes and what was are two things' "$lkdf" trace record --last \
	-d 1 -p "$pid" -o "$dir/last.lkdf"
stop_target KILL
start_target "$target" busy 1
try 5 'a process without a flight recorder' "$lkdf" trace record --last \
	-p "$pid" -o "$dir/none.lkdf"
holds 'no flight recorder'
[ ! -e "$dir/none.lkdf" ]
ok $? 'and there is no file'
stop_target KILL

echo "1..$nr"
exit $failed
