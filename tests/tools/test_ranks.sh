#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf report of several ranks, on recordings that are made here: clocks that
# differ, who waits for whom and how much, a page, JSON as its schema says, what
# is refused. Needs no MPI: tests/api/report/ranks.py.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
log=$dir/log
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}
python3 tests/api/report/ranks.py "$dir" 2>"$log"
ok $? 'recordings of three ranks'

# In any order.
"$lkdf" report "$dir/r.2.lkdf" "$dir/r.0.lkdf" "$dir/r.1.lkdf" \
	--html "$dir/page.html" >"$dir/out" 2>"$log"
ok $? 'are read as one'

# says FACT PATTERN
says() {
	tr '\n' ' ' <"$dir/out" | tr -s ' ' | grep -q "$2"
	ok $? "$1" "$dir/out"
}
says 'a clock that is 5 s ahead counts' '^solver --fast: 3 ranks, 100 ms'
says 'who waits for whom, and how long' '1\. rank 2 waits for rank 0: 38 %'
says 'what the other did meanwhile' \
	'rank 0 were in bodies for 100 % of it, most of them solve'
says 'a message of the rank itself is none, a drift is taken out' \
	'rank 1 waits for rank 2: 10 %.*rank 1 waits for rank 3: 10 %.* try: lkdf'
says 'a rank that was idle, too' 'rank 2 was idle, too'
says 'a recording that was not given' 'give the recording of rank 3, too'
says 'rows of ranks' '1 4242 1 80 % 20 % 2 2'
grep -q '^     2 |\.*##.*|$' "$dir/out"
ok $? 'and a picture' "$dir/out"
grep -c '<rect' "$dir/page.html" >"$dir/nr"
[ "$(cat "$dir/nr")" -gt 1000 ] &&
	grep -q '<title>from rank 0, 38' "$dir/page.html" &&
	grep -q 'rank 2 waits for rank 0: 38 %' "$dir/page.html" &&
	! grep -q '<script\|http:\|src=' "$dir/page.html"
ok $? 'the page has rows, bars of requests and the findings, and no script' \
	"$dir/nr"
"$lkdf" report --json "$dir"/r.*.lkdf >"$dir/json" 2>"$log" &&
	python3 tests/tools/schema.py Documentation/schema/report_ranks.json \
		"$dir/json" >"$log" 2>&1 &&
	python3 - "$dir/json" <<'END'
import json
import sys
r = json.load(open(sys.argv[1]))
w = {(x['rank'], x['for']): x['ns'] for x in r['waits']}
sys.exit(w != {(2, 0): 38000000, (1, 2): 10000000, (1, 3): 10000000} or
         r['wall'] != 100000000 or
         [x['body_ns'] for x in r['ranks']] != [100000000, 80000000, 52000000])
END
ok $? 'JSON has the same to the nanosecond, as its schema says'

# refused STATUS FACT TEXT ARGUMENT...
refused() {
	status=$1
	fact=$2
	text=$3
	shift 3
	"$lkdf" report "$@" >"$dir/out" 2>"$log"
	[ $? -eq "$status" ] && grep -q "$text" "$log"
	ok $? "$fact"
}
python3 tests/api/report/planted.py clean "$dir/clean.lkdf"
refused 2 'a recording of no rank' 'clean.lkdf: it is of no rank' \
	"$dir/r.0.lkdf" "$dir/clean.lkdf"
cp "$dir/r.0.lkdf" "$dir/twice.lkdf"
refused 2 'two of one rank' 'two files are of one rank' \
	"$dir/r.0.lkdf" "$dir/twice.lkdf"
refused 2 'a window of several' 'for the recording of one rank' \
	--from 1ms "$dir/r.0.lkdf" "$dir/r.1.lkdf"
refused 2 'a page in the place of a recording' 'it is the recording itself' \
	--html "$dir/r.1.lkdf" "$dir/r.0.lkdf" "$dir/r.1.lkdf"
refused 5 'a file that is not there' 'No such file' \
	"$dir/r.0.lkdf" "$dir/none.lkdf"
head -c $(($(wc -c <"$dir/r.1.lkdf") / 2)) "$dir/r.1.lkdf" >"$dir/cut.lkdf"
refused 6 'a recording that is cut' 'cut.lkdf: offset' \
	"$dir/r.0.lkdf" "$dir/cut.lkdf"
full 'No space' 'lkdf report of ranks' "$lkdf" report "$dir/r.0.lkdf" \
	"$dir/r.1.lkdf"

# A byte anywhere may be wrong: it ends, and says so or not.
python3 - "$dir" "$lkdf" >"$log" 2>&1 <<'END'
import os
import subprocess
import sys
path, lkdf = sys.argv[1] + '/r.2.lkdf', sys.argv[2]
whole = bytearray(open(path, 'rb').read())
for at in range(0, len(whole), 37):
    lie = bytearray(whole)
    lie[at] ^= 0xff
    with open(path, 'wb') as f:
        f.write(lie)
    for best in ([], ['-b']):
        done = subprocess.run(
            [lkdf, 'report', *best, path, sys.argv[1] + '/r.0.lkdf'],
            capture_output=True, timeout=60, check=False)
        if done.returncode not in (0, 2, 6):
            sys.exit('byte %d: %r' % (at, done))
END
ok $? 'a lie in a byte ends nothing'

echo "1..$nr"
exit $failed
