#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# LKDF_TRACE=FILE before a program, then lkdf trace on the file.
set -u
build=${BUILD:-build}
lkdf=$build/lkdf
hello=$build/examples/hello
nr=0
failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# ok STATUS SENTENCE
ok() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$nr" "$2"
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n' "$nr" "$2"
	fi
}

# is GOT WANT SENTENCE
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || printf '# got %s, expected %s\n' "$1" "$2"
}

LKDF_TRACE=$tmp/run.lkdf "$hello" >/dev/null
ok $? 'a program runs with LKDF_TRACE'
is "$(stat -c %a "$tmp/run.lkdf")" 600 'the file is for its owner only'
is "$(ls "$tmp")" run.lkdf 'there is no other file'
"$lkdf" trace check "$tmp/run.lkdf" >"$tmp/out"
ok $? 'the file is whole'
grep -q '2 slices (0 lost)' "$tmp/out"
ok $? 'it holds both bodies'

"$lkdf" trace convert "$tmp/run.lkdf" -o "$tmp/run.json"
ok $? 'it is converted'
python3 -m json.tool "$tmp/run.json" >/dev/null
ok $? 'to JSON'
is "$(grep -c '"ph": "X", "name": "say"' "$tmp/run.json")" 2 \
	'with a slice for each body'
is "$(grep -c '"name": "run_begin"' "$tmp/run.json")" 1 'and the run'
grep -q '"name": "worker 0' "$tmp/run.json"
ok $? 'and the names of threads'

# Tasks of a recorded graph run straight from its records; they have bytes, too.
LKDF_TRACE=$tmp/graph.lkdf "$build/examples/cholesky" --n 96 --block 32 \
	--replay 2 >/dev/null
ok $? 'a recorded graph is replayed with LKDF_TRACE'
"$lkdf" trace convert --to csv "$tmp/graph.lkdf" -o "$tmp/graph.csv"
python3 - "$tmp/graph.csv" <<'EOT'
import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if r['sort'] == 'body']
uses = {'potrf': 1, 'trsm': 2, 'syrk': 2, 'gemm': 3}
for name, nr in uses.items():
    of = [r for r in rows if r['name'] == name]
    assert of and all(int(r['local_bytes']) + int(r['remote_bytes']) ==
                      nr * 32 * 32 * 8 for r in of), of
EOT
ok $? 'each body has the bytes of its tiles'

# Perfetto's protobuf, taken apart by hand: packets, tracks, slices, arrows
"$lkdf" trace convert "$tmp/run.lkdf" --to perfetto -o "$tmp/run.pb"
ok $? 'it is converted to protobuf'
python3 - "$tmp/run.pb" <<'EOT'
import sys
def fields(b):
    i, out = 0, []
    def varint():
        nonlocal i
        v = shift = 0
        while True:
            c = b[i]; i += 1
            v |= (c & 127) << shift; shift += 7
            if c < 128:
                return v
    while i < len(b):
        key = varint()
        if key & 7 == 0:
            v = varint()
        elif key & 7 == 1:
            v = int.from_bytes(b[i:i + 8], "little"); i += 8
        else:
            assert key & 7 == 2
            n = varint(); v = b[i:i + n]; i += n
            assert len(v) == n
        out.append((key >> 3, v))
    return out
packets = [dict(fields(p)) for f, p in fields(open(sys.argv[1], "rb").read())]
tracks = {dict(fields(p[60]))[1] for p in packets if 60 in p}
events = [dict(fields(p[11])) for p in packets if 11 in p]
assert all(p[10] == 1 for p in packets)
assert all(e[11] in tracks for e in events)
assert sum(e[9] == 1 and e[23] == b"say" for e in events) == 2
assert sum(e[9] == 1 for e in events) == sum(e[9] == 2 for e in events)
assert {e[48] for e in events if 48 in e} == {e[47] for e in events if 47 in e}
EOT
ok $? 'with tracks, slices that end, and arrows that arrive'
"$lkdf" trace convert "$tmp/run.lkdf" --to csv -o "$tmp/run.csv"
ok $? 'it is converted to CSV'
python3 - "$tmp/run.csv" <<'EOT'
import csv, sys
rows = list(csv.DictReader(open(sys.argv[1])))
assert all(len(r) == 15 and None not in r for r in rows)
say = [r for r in rows if r["sort"] == "body" and r["name"] == "say"]
assert len(say) == 2
assert all(int(r["end_ns"]) >= int(r["begin_ns"]) for r in rows)
EOT
ok $? 'with a line for each body'

# Tasks that are submitted, with data: some more than a kind needs to be known
LKDF_TRACE=$tmp/engine.lkdf "$build/examples/engine" >"$tmp/out"
pushes=$(sed -n 's/ pushes.*//p' "$tmp/out")
"$lkdf" trace check "$tmp/engine.lkdf" >"$tmp/out"
is "$(sed -n 's/.*, \([0-9]*\) slices (0 lost).*/\1/p' "$tmp/out")" "$pushes" \
	'each submitted task has its slice'

# All but the last 3 bytes
size=$(wc -c <"$tmp/run.lkdf")
head -c $((size - 3)) "$tmp/run.lkdf" >"$tmp/cut.lkdf"
"$lkdf" trace check "$tmp/cut.lkdf" >/dev/null 2>"$tmp/err"
is $? 6 'a cut file is damaged input'
grep -q 'offset [0-9]' "$tmp/err"
ok $? 'the offset is named'
"$lkdf" trace convert "$tmp/cut.lkdf" -o "$tmp/cut.json" 2>/dev/null
is $? 6 'it is not converted'
[ ! -e "$tmp/cut.json" ]
ok $? 'and nothing is written'
"$lkdf" trace convert --best-effort "$tmp/cut.lkdf" -o "$tmp/cut.json" \
	2>"$tmp/err"
ok $? 'unless one asks for what is readable'
python3 -m json.tool "$tmp/cut.json" >/dev/null
ok $? 'which is JSON too'
is "$(grep -c '"ph": "X", "name": "say"' "$tmp/cut.json")" 2 'with both bodies'
grep -q 'offset [0-9]' "$tmp/err"
ok $? 'and a word about the rest'

# A recording is not written over by what is made of it
for verb in 'trace convert' 'trace convert -b' 'trace convert --to csv' report; do
	cp "$tmp/run.lkdf" "$tmp/self.lkdf"
	# shellcheck disable=SC2086
	"$lkdf" $verb "$tmp/self.lkdf" -o "$tmp/self.lkdf" >"$tmp/err" 2>&1
	is $? 2 "$verb onto its input is refused"
	cmp -s "$tmp/self.lkdf" "$tmp/run.lkdf"
	ok $? 'which stays as it was'
done
# What is whole before the file has its name
cp "$tmp/run.json" "$tmp/before.json"
"$lkdf" trace convert "$tmp/run.lkdf" -o /dev/full 2>"$tmp/err"
is $? 4 'a full device takes no file'
grep -q '^lkdf trace convert: /dev/full: No space' "$tmp/err"
ok $? 'and is named, not the input'
"$lkdf" trace convert "$tmp/run.lkdf" -o "$tmp/none/x.json" 2>"$tmp/err"
is $? 5 'nor does a directory that is not there'
grep -q 'none/x.json: No such file' "$tmp/err"
ok $? 'which is named too'
! (ulimit -f 0 && trap '' XFSZ &&
	exec "$lkdf" trace convert "$tmp/run.lkdf" -o "$tmp/run.json") \
	2>"$tmp/err" &&
	cmp -s "$tmp/run.json" "$tmp/before.json"
ok $? 'a file that cannot be written whole leaves the one before'
is "$(find "$tmp" -name '*.tmp')" '' 'and nothing beside it'
"$lkdf" trace convert "$tmp/run.lkdf" --to chrmoe 2>"$tmp/err"
is $? 2 'an unknown format is refused'
grep -q 'try:   --to chrome' "$tmp/err"
ok $? 'with the nearest one'

# What a script asks for
"$lkdf" trace check --json "$tmp/run.lkdf" >"$tmp/out"
is $? 0 'check has JSON'
python3 - "$tmp/out" <<'EOT'
import json, sys
c = json.load(open(sys.argv[1]))
assert c["schema"] == "lkdf/trace_check/1" and c["whole"] is True
assert c["slices"] == 2 and c["slices_lost"] == 0 and "why" not in c
EOT
ok $? 'with the counts'
"$lkdf" trace check -v "$tmp/run.lkdf" >"$tmp/text"
python3 - "$tmp/out" "$tmp/text" <<'EOT'
import json, sys
facts = dict(line[2:].rstrip("\n").split(" = ", 1)
             for line in open(sys.argv[2]) if " = " in line)
assert len(facts) > 5 and json.load(open(sys.argv[1]))["facts"] == facts
EOT
ok $? 'and the facts that -v tells'
"$lkdf" trace check --json "$tmp/cut.lkdf" >"$tmp/out" 2>/dev/null
is $? 6 'of a damaged file as well'
python3 - "$tmp/out" <<'EOT'
import json, sys
c = json.load(open(sys.argv[1]))
assert c["whole"] is False and c["offset"] > 0 and c["why"]
EOT
ok $? 'with offset and reason'
"$lkdf" trace check -v "$tmp/run.lkdf" >"$tmp/out"
grep -q '^  executors  *[1-9]' "$tmp/out"
ok $? 'check -v tells what there is'
"$lkdf" trace check -q "$tmp/run.lkdf" >"$tmp/out"
[ ! -s "$tmp/out" ]
ok $? 'check -q says nothing of a whole one'

# Two recordings side by side
LKDF_TRACE=$tmp/again.lkdf "$hello" >/dev/null
"$lkdf" trace diff "$tmp/run.lkdf" "$tmp/again.lkdf" >"$tmp/out"
is $? 0 'two recordings are compared'
grep -q '^  count  *2  *2  *+0.0 %' "$tmp/out"
ok $? 'each kind has a block'
"$lkdf" trace diff -q "$tmp/run.lkdf" "$tmp/again.lkdf" \
	--fail-on 'count:say>+0%,count:*<-1%,lost>0,p99:say>1s' >"$tmp/out"
is $? 0 'no condition holds'
[ ! -s "$tmp/out" ]
ok $? '-q prints nothing then'
"$lkdf" trace diff "$tmp/run.lkdf" "$tmp/again.lkdf" \
	--fail-on 'max:say<0,count:say<3' >/dev/null 2>"$tmp/err"
is $? 1 'a condition holds'
grep -q 'count say: 2, was 2: count:say<3' "$tmp/err"
ok $? 'and is named with both values'
is "$(wc -l <"$tmp/err")" 1 'alone'
for bad in p98:say\>1 p99\>1 lost:say\>1 p99:say\>10% p99:say\>x \
	count:say\>1ms p99:nobody\>1ms p99:say=1; do
	"$lkdf" trace diff "$tmp/run.lkdf" "$tmp/again.lkdf" \
		--fail-on "$bad" >/dev/null 2>&1
	is $? 2 "the condition $bad is refused"
done
"$lkdf" trace diff --json "$tmp/run.lkdf" "$tmp/again.lkdf" >"$tmp/out"
python3 - "$tmp/out" <<'EOT'
import json, sys
d = json.load(open(sys.argv[1]))
assert d["schema"] == "lkdf/trace_diff/1" and d["failed"] is False
say = [k for k in d["kinds"] if k["kind"] == "say"]
assert len(say) == 1 and say[0]["count"] == [2, 2]
assert say[0]["p50"][0] <= say[0]["max"][0] <= say[0]["total"][0]
EOT
ok $? 'as JSON, too'
"$lkdf" trace diff "$tmp/run.lkdf" "$tmp/cut.lkdf" >/dev/null 2>&1
is $? 6 'a cut one is damaged input'

"$lkdf" trace check "$lkdf" 2>/dev/null
is $? 6 'another sort of file is damaged input'
"$lkdf" trace check "$tmp/none" 2>/dev/null
is $? 5 'a file that is not there is said to be gone'
"$lkdf" trace convert 2>/dev/null
is $? 2 'a missing name is a mistake of usage'

ln -s run.lkdf "$tmp/link.lkdf"
LKDF_TRACE=$tmp/link.lkdf "$hello" >/dev/null 2>"$tmp/err"
is $? 0 'a link is not written through, and the program runs'
grep -q 'link.lkdf' "$tmp/err"
ok $? 'the program is told the name'

printf '1..%d\n' "$nr"
[ "$failed" -eq 0 ]
