#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What make figures does to a page: tables and fields of the suites that have
# printed are new, all words and all other tables stay.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

row() {
	printf '{"name": "%s", "workers": 1, "value": %s, "unit": "ns", "floor": %s,' \
		"$1" "$2" "$3"
	printf ' "peer": %s, "peer_value": %s, "ratio": %s, "bar": %s, "ok": %s}' \
		"$4" "$5" "$6" "$7" "$8"
}

cat >"$dir/page.rst" <<'END'
Graphs
======

:Command: ``make bench-graph``
:Machine: an old one
:Date: 2020-01-01
:Commit: 0000000

Words of graphs.

=====  ====  ====
row    lkdf  held
=====  ====  ====
old/1  99    yes
=====  ====  ====

Words behind it.

Flow
====

:Command: ``lkdf bench flow --quick``
:Machine: an old one
:Date: 2020-01-01
:Commit: 0000000

=====  ====
row    lkdf
=====  ====
old/2  98
=====  ====
END
cp "$dir/page.rst" "$dir/old.rst"
{
	printf '{"schema": "lkdf/bench/1", "suite": "graph", "quick": false,'
	printf ' "machine": {"cpu": "Some(R) CPU", "kernel": "Linux 9", "cpus": 2,'
	printf ' "mem": 1}, "rows": ['
	row chain/1 1.994 2 '"tbb"' 37.42 18.77 10 true
	echo ,
	row tree/1 210.4 null null null 1.5 1.2 false
	echo ,
	row wave/1 null null null null null 3 null
	echo ']}'
} >"$dir/graph.json"
touch -d 2021-02-03T12:00:00Z "$dir/graph.json"
python3 tests/bench/figures.py "$dir/page.rst" "$dir/graph.json" >"$dir/log" 2>&1
ok $? 'a suite is put into the page'
sed -n '/^Graphs/,/^Words behind/p' "$dir/page.rst" |
	sed 's/^:Commit: .*/:Commit: C/' >"$dir/got"
cat >"$dir/want" <<'END'
Graphs
======

:Command: ``lkdf bench graph``
:Machine: 2 CPUs of Some CPU, Linux 9
:Date: 2021-02-03
:Commit: C

Words of graphs.

=======  ====  ====  =====  ====  ====  =====  ====  ====
row      lkdf  unit  floor  peer  its   ratio  bar   held
=======  ====  ====  =====  ====  ====  =====  ====  ====
chain/1  1.99  ns    2      tbb   37.4  18.8   10    yes
tree/1   210   ns                       1.50   1.20  no
wave/1         ns                              3     open
=======  ====  ====  =====  ====  ====  =====  ====  ====

Words behind it.
END
diff "$dir/want" "$dir/got" >"$dir/log"
ok $? 'with machine, date and three digits'
sed -n '/^Flow/,$p' "$dir/old.rst" >"$dir/want"
sed -n '/^Flow/,$p' "$dir/page.rst" | diff "$dir/want" - >"$dir/log"
ok $? 'the section of another suite stays'

sed 's/"suite": "graph", "quick": false/"suite": "flow", "quick": true/' \
	"$dir/graph.json" >"$dir/flow.json"
python3 tests/bench/figures.py "$dir/page.rst" "$dir/flow.json" >/dev/null &&
	sed -n '/^Flow/,$p' "$dir/page.rst" | grep -q '^chain/1 ' &&
	grep -q 'lkdf bench flow --quick' "$dir/page.rst" &&
	! grep -q '^old' "$dir/page.rst"
ok $? 'a quick run says so'
sed -i 's/"flow"/"idle"/' "$dir/flow.json"
python3 tests/bench/figures.py "$dir/page.rst" "$dir/flow.json" >/dev/null &&
	tail -n 15 "$dir/page.rst" | grep -q '^Suite idle$'
ok $? 'a suite without a section gets one'

cp "$dir/page.rst" "$dir/old.rst"
echo '{"schema": "lkdf/bench/1"}' >"$dir/bad.json"
! python3 tests/bench/figures.py "$dir/page.rst" "$dir/graph.json" \
	"$dir/bad.json" 2>"$dir/log" >&2 && grep -q 'bad.json: not what' "$dir/log" &&
	cmp -s "$dir/page.rst" "$dir/old.rst"
ok $? 'another object is refused, and the page stays as it is'
echo "1..$nr"
[ "$failed" -eq 0 ]
