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
	together_crowded; do
	python3 tests/api/report/tried.py $name "$dir/$name.lkdf"
done

# command NAME: with one worker it is recorded as alone, with four as NAME
command_of() {
	cat >"$dir/$1" <<END
#!/bin/sh
echo output of the command
[ "\$LKDF_WORKERS" = 1 ] && name=alone || name=$1
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
