#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf trace diff --runs: several runs of each side, medians and a sign test. The
# recordings have one body of "work" each, with lengths that are chosen.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

# runs NAME MS...: recordings NAME1, NAME2 ... of a body that takes so long
runs() {
	PYTHONPATH=tests/api/report python3 - "$dir" "$@" <<'END'
import sys

from recording import MS, Trace

folder, name, *lengths = sys.argv[1:]
for i, ms in enumerate(lengths, 1):
    trace = Trace(1)
    trace.slice(0, 'work', 0, int(float(ms) * MS))
    trace.write('%s/%s%d' % (folder, name, i))
END
}

# diff RC A B WORDS...: five runs of each
diff() {
	want=$1
	a=$dir/$2
	b=$dir/$3
	shift 3
	"$lkdf" trace diff --runs 5 "${a}1" "${a}2" "${a}3" "${a}4" "${a}5" \
		"${b}1" "${b}2" "${b}3" "${b}4" "${b}5" "$@" \
		>"$dir/log" 2>"$dir/err"
	[ $? -eq "$want" ]
}

runs before 100 101 99 105 100
runs slower 112 113 111 112 140
runs noisy 130 99 120 98 140
runs faster 80 81 79 80 82
bound='max:work>+10%'

diff 0 before before --fail-on "$bound,wall>+1%"
ok $? 'a program is no slower than itself' "$dir/err"
grep -q '^medians of 5 runs each$' "$dir/log" &&
	grep -qE '^  max +100\.0 ms +100\.0 ms +\+0\.0 % +more in 0 of 5$' "$dir/log"
ok $? 'values are medians, with the pairs in which B has more'
diff 1 before slower --fail-on "$bound"
ok $? 'all pairs are slower, by more or less than that: it holds' "$dir/err"
diff 0 before slower --fail-on 'max:work>+20%'
ok $? 'the bound is one for the medians' "$dir/err"
diff 0 before noisy --fail-on "$bound"
ok $? 'a median that is higher by chance is no failure' "$dir/err"
grep -qE '^  max .* more in 3 of 5$' "$dir/log"
ok $? 'and the pairs show why'
diff 1 before faster --fail-on 'wall<-10%'
ok $? 'a condition below' "$dir/err"
grep -q 'by 5 of 5 pairs$' "$dir/err"
ok $? 'is told with its pairs' "$dir/err"
diff 1 before slower --fail-on 'max:work>110ms'
ok $? 'a value as a bound: all of B are above' "$dir/err"
diff 0 before slower --fail-on 'max:work>111500us'
ok $? 'four of five may be chance' "$dir/err"
diff 1 before slower --fail-on 'max:work<+50%,max:work>-50%' &&
	[ "$(wc -l <"$dir/err")" -eq 2 ]
ok $? 'a share on the other side of A is tested itself' "$dir/err"
diff 0 before slower --json
python3 - "$dir/log" <<'END'
import json
import sys
d = json.load(open(sys.argv[1]))
assert d['runs'] == 5
work = d['kinds'][1]
assert work['kind'] == 'work' and work['max'] == [100e6, 112e6], work
assert work['more_in']['max'] == 5 and work['more_in']['count'] == 0, work
assert d['kinds'][0]['more_in']['wall'] == 5
END
ok $? 'JSON has medians and pairs'
python3 tests/tools/schema.py Documentation/schema/trace_diff.json "$dir/log" \
	>"$dir/err" 2>&1
ok $? 'as its schema says' "$dir/err"
"$lkdf" trace diff --json "$dir/before1" "$dir/slower1" >"$dir/log" &&
	! grep -q more_in "$dir/log" && grep -q '"runs": 1' "$dir/log"
ok $? 'one recording each has no pairs'
"$lkdf" trace diff "$dir/before1" "$dir/slower1" --fail-on "$bound" \
	>/dev/null 2>"$dir/err"
[ $? -eq 1 ] && ! grep -q pairs "$dir/err"
ok $? 'and is judged as it is' "$dir/err"

# refused PATTERN WORDS...
refused() {
	pattern=$1
	shift
	"$lkdf" trace diff "$@" >"$dir/log" 2>&1
	[ $? -eq 2 ] && grep -q "$pattern" "$dir/log"
}
refused 'needs 5 to 16 runs' --runs 4 a b c d e f g h
ok $? 'four runs cannot tell'
refused 'needs 5 to 16 runs' --runs 17 a
ok $? 'seventeen are refused'
refused '5 wants 10 files, first all of A: there are 2' --runs 5 a b
ok $? 'so is another number of files'
refused 'which two files' a b c
ok $? 'three files without --runs are, too'
cp "$lkdf" "$dir/slower3"
diff 6 before slower && grep -q slower3 "$dir/err"
ok $? 'a run that is no recording is named' "$dir/err"
echo "1..$nr"
exit "$failed"
