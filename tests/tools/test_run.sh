#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf run and lkdf stat: commands and processes with runtimes, and without.
set -u
build=${BUILD:-build}
lkdf=$build/lkdf
hello=$build/examples/hello
nr=0
failed=0
target=
tmp=$(mktemp -d)
trap '[ -z "$target" ] || kill $target 2>/dev/null; rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# ok STATUS SENTENCE
ok() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$nr" "$2"
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n' "$nr" "$2"
		sed 's/^/# /' "$tmp/out" "$tmp/err"
	fi
}

# is GOT WANT SENTENCE
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || printf '# got %s, expected %s\n' "$1" "$2"
}

# try STATUS SENTENCE COMMAND...
try() {
	want=$1
	what=$2
	shift 2
	"$@" >"$tmp/out" 2>"$tmp/err"
	is $? "$want" "$what"
}

holds() {
	grep -q -e "$1" "$tmp/out" "$tmp/err"
	ok $? "it says $1"
}

: >"$tmp/out"
: >"$tmp/err"
try 0 'run runs a command' "$lkdf" run -w 1 -- "$hello"
holds '^hello from worker 0'
holds '^lkdf: [0-9.]* s, 1 workers, 2 tasks'
try 0 'run -q says nothing itself' "$lkdf" run -q "$hello"
is "$(wc -c <"$tmp/err")" 0 'on standard error'
try 7 'its status is the command'\''s' "$lkdf" run sh -c 'exit 7'
holds 'no lkdf runtime'
# shellcheck disable=SC2016
try 137 'a signal is 128 more' "$lkdf" run sh -c 'kill -9 $$'
try 127 'no such command' "$lkdf" run "$tmp/none"
holds "none: No such file"
try 126 'no command at all' "$lkdf" run "$tmp"
try 2 'no words' "$lkdf" run
try 2 'options that are none' "$lkdf" run -o workers "$hello"
# shellcheck disable=SC2016
try 0 'options of the command are its own' "$lkdf" run sh -c 'echo "$1"' x -w
holds '^-w$'
try 0 'options reach the runtime' "$lkdf" run -o 'serial=1' "$hello"
try 1 'and are refused there' "$lkdf" run -o 'workers=-3' "$hello"

try 0 'run records' "$lkdf" run -t "$tmp/a.lkdf" "$hello"
"$lkdf" trace check "$tmp/a.lkdf" >"$tmp/out" 2>"$tmp/err"
ok $? 'into a file that is whole'
holds ' 2 slices (0 lost)'

# The report of a run: its recording is in a folder that is gone afterwards.
mkdir "$tmp/own"
TMPDIR=$tmp/own
export TMPDIR
try 0 'run reports' "$lkdf" run -r -w 1 "$hello"
grep -q '^hello from worker 0' "$tmp/out" && ! grep -q 'worker time' "$tmp/out"
ok $? 'what the command prints is as without'
grep -q 'worker time' "$tmp/err" && ! grep -q "$tmp" "$tmp/err"
ok $? 'the report is on standard error, without a name of a file'
"$lkdf" run -t "$tmp/b.lkdf" -r -w 1 "$hello" >"$tmp/out" 2>"$tmp/err"
"$lkdf" report -q "$tmp/b.lkdf" >"$tmp/want"
sed 1d "$tmp/err" | cmp -s - "$tmp/want"
ok $? 'with --trace it is what lkdf report says of the file'
head -n 1 "$tmp/err" | grep -q "trace $tmp/b.lkdf$"
ok $? 'behind the line that names it'
LKDF_TRACE=$tmp/c.lkdf "$lkdf" run -r -q "$hello" >"$tmp/out" 2>"$tmp/err"
"$lkdf" report -q "$tmp/c.lkdf" | cmp -s - "$tmp/err"
ok $? 'LKDF_TRACE names the file as well'
try 2 'no report of a pattern' "$lkdf" run -r -t "$tmp/%p.lkdf" "$hello"
# shellcheck disable=SC2016
try 9 'the status is the command'\''s' "$lkdf" run -r \
	sh -c '"$1" && exit 9' x "$hello"
holds 'worker time'
try 3 'no runtime, no report' "$lkdf" run -r sh -c 'exit 3'
holds '^lkdf run: no recording to report on$'
# A program that records is killed: kill.sh PROGRAM DIR.
cat >"$tmp/kill.sh" <<'EOT'
"$1" "$2" >/dev/null &
for _ in $(seq 200); do
	[ -s "$LKDF_TRACE" ] && break
	sleep 0.05
done
kill -9 $!
wait $!
EOT
try 137 'a program that records for a report is killed' "$lkdf" run -r \
	sh "$tmp/kill.sh" "$build/examples/dupes" /usr
holds 'worker time'
is "$(ls "$tmp/own")" '' 'no recording is left'
unset TMPDIR

# shellcheck disable=SC2016
try 0 'run sets the placement' "$lkdf" run --place=no sh -c \
	'[ "$LKDF_PLACEMENT" = no ]'
try 0 'which the runtime takes' "$lkdf" run -P yes "$hello"
try 2 'or refuses' "$lkdf" run --place perhaps "$hello"
holds 'neither yes nor no'

# The file of a program that is killed gets its end from outside.
try 137 'a program is killed' "$lkdf" run -t "$tmp/k.lkdf" \
	sh "$tmp/kill.sh" "$build/examples/dupes" /usr
"$lkdf" trace check "$tmp/k.lkdf" >"$tmp/out" 2>"$tmp/err"
ok $? 'its recording is whole'

# As cut at each place by a kill that comes before the runtime was seen.
LKDF_TRACE=$tmp/all.lkdf "$build/examples/hello" >/dev/null
nr_whole=0
nr_none=0
size=$(stat -c %s "$tmp/all.lkdf")
cut=7
while [ $cut -lt "$size" ]; do
	"$lkdf" run -q -t "$tmp/cut.lkdf" \
		sh -c "head -c $cut $tmp/all.lkdf >$tmp/cut.lkdf" 2>"$tmp/err"
	if "$lkdf" trace check "$tmp/cut.lkdf" >"$tmp/out" 2>>"$tmp/err"; then
		nr_whole=$((nr_whole + 1))
	elif grep -q 'before its first whole piece' "$tmp/err"; then
		nr_none=$((nr_none + 1))
	else
		break
	fi
	cut=$((cut + 7))
done
[ $cut -ge "$size" ]
ok $? "wherever it is cut"
[ $nr_whole -gt $((nr_none / 4)) ]
ok $? "from the description on it can be read"

if command -v python3 >/dev/null; then
	cat >"$tmp/open.py" <<'EOT'
import ctypes, sys, time
lib = ctypes.CDLL(sys.argv[1])
rt = ctypes.c_void_p()
assert lib.lkdf_open(b"workers=2", ctypes.byref(rt)) == 0
print("up", flush=True)
time.sleep(600)
EOT
	try 124 'what does not end is ended' "$lkdf" run -T 3 \
		python3 "$tmp/open.py" "$build/liblkdf.so"
	holds 'not over after 3 s'
	holds '^  worker 0: 0 tasks, '
	holds '^  worker 1: 0 tasks, '
	holds '^as seen: 0 submitted tasks'
	try 124 'so is what is to be reported on' "$lkdf" run -r -T 3 \
		python3 "$tmp/open.py" "$build/liblkdf.so"
	holds 'not over after 3 s'
	holds 'worker time'

	python3 "$tmp/open.py" "$build/liblkdf.so" >"$tmp/up" &
	target=$!
	for _ in $(seq 200); do
		[ -s "$tmp/up" ] && break
		sleep 0.05
	done
	try 0 'stat looks at a process' "$lkdf" stat -p $target
	holds "^process $target python3: 1 runtime, 2 workers"
	try 0 'as JSON' "$lkdf" stat -p $target --json
	python3 -c '
import json, sys
s = json.load(open(sys.argv[1]))
assert s["schema"] == "lkdf/stat/1" and s["workers"] == 2
assert s["counters"]["tasks"] == 0 and len(s["counters"]) > 20' "$tmp/out"
	ok $? 'which holds the counters'
	try 0 'in intervals' "$lkdf" stat -p $target -I 20 -n 3 -x,
	is "$(sed 1d "$tmp/out" | cut -d, -f1 | sort -u | wc -l)" 3 'three times'
	try 2 'JSON in intervals is refused' "$lkdf" stat -p $target -I 5 --json
	try 0 'for Prometheus' "$lkdf" stat -p $target -m "$tmp/m.prom"
	python3 - "$tmp/m.prom" $target <<'EOT'
import re, sys
lines = open(sys.argv[1]).read().splitlines()
assert lines[-1] == "# EOF"
types = [l.split()[2] for l in lines if l.startswith("# TYPE")]
helps = [l.split()[2] for l in lines if l.startswith("# HELP")]
values = [l for l in lines if not l.startswith("#")]
assert types == helps and len(values) == len(types) > 20
for t, v in zip(types, values):
    assert re.fullmatch(r'%s_total\{pid="%s",command="python3"\} \d+'
                        % (t, sys.argv[2]), v), v
    assert re.fullmatch(r'[a-zA-Z_][a-zA-Z0-9_]*', t)
EOT
	ok $? 'which reads it'
	kill -INT $target
else
	printf 'ok %d - processes # SKIP no python3\n' $((nr += 1))
fi
try 5 'stat of a process without a runtime' "$lkdf" stat -p $$
holds 'has no lkdf runtime'
try 5 'stat of nobody' "$lkdf" stat -p 999999999
try 2 'stat of what?' "$lkdf" stat
try 0 'stat runs a command' "$lkdf" stat -x, "$hello"
holds '^tasks,2,tasks$'
try 3 'whose status it passes on' "$lkdf" stat sh -c 'exit 3'
printf '1..%d\n' "$nr"
[ "$failed" -eq 0 ]
