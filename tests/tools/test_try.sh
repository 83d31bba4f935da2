#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf try: a command with several numbers of workers. The command copies
# recordings that are made with a clock that is made up, so that the numbers are
# exact; once it is a program of the library.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

for name in alone together_memory together_clean together_asleep \
	together_crowded alone_loop together_loop together_slow_loop \
	together_more; do
	python3 tests/api/report/tried.py $name "$dir/$name.lkdf"
done

# command NAME: with one worker it is recorded as $alone, with four as NAME
alone=alone
command_of() {
	cat >"$dir/$1" <<END
#!/bin/sh
echo output of the command
[ "\$LKDF_WORKERS" = 1 ] && name=$alone || name=$1
exec cp "$dir/\$name.lkdf" "\$LKDF_TRACE"
END
	chmod +x "$dir/$1"
}

# tried NAME PATTERN: a line of what it says about that command
tried() {
	command_of "$1"
	"$lkdf" try -q -w 1,4 -- "$dir/$1" >"$dir/log" 2>"$dir/err" &&
		grep -qE "$2" "$dir/log"
}

tried together_memory '^count takes 30\.0 times as long with 4 workers as with 1: its bodies meet in memory'
ok $? 'bodies that are on a CPU and slower together meet in memory'
! grep -q 'other takes' "$dir/log"
ok $? 'a kind that is not slower is not named'
! grep -q 'output of' "$dir/log" && grep -q 'output of' "$dir/err"
ok $? "the command's output goes to standard error"
tried together_clean '^no kind that was judged takes 1\.5 times as long'
ok $? 'with its fix no kind is named'
tried together_asleep '^count takes .* its bodies sleep, as in a lock'
ok $? 'bodies that sleep do not meet in memory'
tried together_crowded '^with 4 workers bodies had no CPU of their own: not judged'
ok $? 'more workers than CPUs are not judged'
! grep -q 'count takes' "$dir/log"
ok $? 'and no kind is named for them'
tried together_more '^count has 800 bodies with 4 workers and 400 with 1: not compared'
ok $? 'another number of bodies is another amount of work: not compared'
! grep -q 'times as long with 4' "$dir/log"
ok $? 'and no kind is slower for it'
alone=alone_loop
tried together_loop '^no kind that was judged takes 1\.5 times as long'
ok $? 'a loop that is cut into longer pieces is not slower'
grep -qE '^for, all +352 ms +352 ms$' "$dir/log"
ok $? 'the table has the time of the loop'
tried together_slow_loop '^for takes at least 5\.0 times as long with 4 workers'
ok $? 'a loop whose pieces take longer in all is'
alone=alone
"$lkdf" try -q --json -w 1,4 "$dir/together_memory" >"$dir/log" 2>"$dir/err" &&
	python3 - "$dir/log" <<'END'
import json
import sys
r = json.load(open(sys.argv[1]))
assert r['schema'] == 'lkdf/try/1'
assert [x['workers'] for x in r['runs']] == [1, 4]
k = {x['name']: x['slower'] for x in r['runs'][1]['kinds']}
assert k == {'count': 30.0, 'other': 0}, k
END
ok $? 'JSON has the same'

# Cycles, instructions and misses of kinds, of counters that are made up.
for name in alone together_memory; do
	python3 tests/api/report/tried.py $name "$dir/$name.lkdf" \
		"$dir/$name.bodies"
done
"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -shared -fPIC -o "$dir/fake.so" \
	tests/tools/pmu_fake.c -ldl >"$dir/log" 2>&1
ok $? 'counters of a machine that has some'
# counted WORDS...: lkdf try with them; with bodies of both runs
counted() {
	env LD_PRELOAD="$dir/fake.so" FAKE_BODIES="$dir" \
		"$lkdf" try -q -w 1,4 "$@" "$dir/together_memory" \
		>"$dir/log" 2>"$dir/err"
}
if nm -D "$lkdf" 2>/dev/null | grep -qE '__(asan|tsan)_init'; then
	skip 'counts of kinds' 'the sanitizer wants to be loaded first'
else
	counted && grep -q '^count: 0\.07 instructions a cycle with 4 workers, 2\.00 with 1; of 1000 instructions 0\.5 miss' "$dir/log"
	ok $? 'a kind that is slower has its instructions a cycle' "$dir/log"
	! grep -q 'other:' "$dir/log" && ! grep -q 'lost' "$dir/log"
	ok $? 'another one has none, and no sample is lost'
	counted --json && python3 - "$dir/log" <<'END'
import json
import sys
r = json.load(open(sys.argv[1]))
assert r['pmu'] is None and r['lines'] is None
one, four = ({k['name']: k for k in x['kinds']} for x in r['runs'])
assert one['count']['cycles'] == 100 * 1000003, one
assert four['count']['cycles'] == 30 * 100 * 1000003, four
assert four['count']['instructions'] == 200 * 1000003
assert four['count']['misses'] == 100 * 1009
assert four['other']['cycles'] == 0
END
	ok $? 'JSON has the counts: what is in no body belongs to none'
	python3 tests/tools/schema.py Documentation/schema/try.json "$dir/log"
	ok $? 'as its schema says'
	counted --html "$dir/page.html" &&
		grep -q '<td>0\.07 / 0\.5</td>' "$dir/page.html" &&
		grep -q 'class="slow">600 [^ ]*s (x 30\.0)' "$dir/page.html" &&
		! grep -qi '<script' "$dir/page.html"
	ok $? 'so has the page, which has no script'
	FAKE_REFUSES=1 counted && grep -q '^cycles and misses are not known: .*: Permission denied' "$dir/log"
	ok $? 'a machine that refuses them: it is said, with the reason'
fi

# perf c2c, by a program of its name.
cat >"$dir/perf" <<'END'
#!/bin/sh
[ ! -e "${0%/*}/broken" ] || exit 3
if [ "$2" = record ]; then
	while [ "$1" != -- ]; do
		[ "$1" != -o ] || echo data >"$2"
		shift
	done
	echo "workers $LKDF_WORKERS, trace ${LKDF_TRACE-none}" >"${0%/*}/seen"
	exit 0
fi
grep -q data "$4" && cat <<'TABLE'
=================================================
           Shared Data Cache Line Table
=================================================
#        ----------- Cacheline ----------      Tot
# Index             Address  Node  PA cnt     Hitm
      0      0x55d0c8d8e040     0    1200   98.75%  more
      1      0x7ffd00000000     0       1    1.25%
=================================================
      Shared Cache Line Distribution Pareto
      0  0x1 0 0 50.00%
TABLE
END
chmod +x "$dir/perf"
PATH=$dir:$PATH "$lkdf" try -q --lines -w 1,4 "$dir/together_memory" \
	>"$dir/log" 2>"$dir/err" &&
	grep -q '^the line at 0x55d0c8d8e040 has 98\.75% of the loads' "$dir/log" &&
	[ "$(grep -c '^the line at' "$dir/log")" = 2 ]
ok $? 'lines that bounce, as perf c2c has them'
grep -q '^workers 4, trace none' "$dir/seen"
ok $? 'of a run with the most workers, that is not recorded'
touch "$dir/broken"
PATH=$dir:$PATH "$lkdf" try -q --lines --json -w 1,4 "$dir/together_memory" \
	>"$dir/json" 2>"$dir/err" && grep -q '"lines": null' "$dir/json"
ok $? 'a perf that fails: null'
PATH=$dir:$PATH "$lkdf" try -q --lines -w 1,4 "$dir/together_memory" \
	>"$dir/log" 2>"$dir/err" &&
	grep -q '^lines that bounce are not known: perf c2c' "$dir/log"
ok $? 'and a sentence'

# refused RC PATTERN WORDS...
refused() {
	want=$1
	pattern=$2
	shift 2
	"$lkdf" try "$@" >"$dir/log" 2>&1
	[ $? -eq "$want" ] && grep -q "$pattern" "$dir/log"
}
refused 2 'which command'
ok $? 'no command is refused'
refused 2 'one,two: expected' -w one,two true
ok $? 'so are no numbers'
refused 4 'no whole recording' -w 1 true
ok $? 'a command without a runtime'
refused 3 'it failed' -q -w 1 sh -c 'exit 3'
ok $? 'a command that fails ends it, with its status'
"$lkdf" try -q -w 1,2 "$build/examples/cholesky" --n 128 --block 32 \
	>"$dir/log" 2>"$dir/err" && grep -q '^gemm ' "$dir/log"
ok $? 'a program: a row for each of its kinds'
echo "1..$nr"
exit "$failed"
