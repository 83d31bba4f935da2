#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf try --fix: a command as it is and with a change, beside what a replay
# predicts. The command copies recordings that are made with a clock that is made
# up; once it is a program of the library.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

# One token for 100 bodies of 1 ms on four workers, which two tokens halve; a
# window for one task; a loop whose last block is long.
PYTHONPATH=tests/api/report python3 - "$dir" <<'END'
import sys

import causes
import looped
import planted
from recording import LIMIT, MS, Machine, Trace, fair_samples


def tokens(nr, name):
    trace = Trace(4)
    machine = Machine(trace, 4)
    last = [(None, 0)] * nr
    for i in range(100):
        by, ready = last[i % nr]
        if by:
            trace.span(0, LIMIT, 0, ready, 'limit "disk" of %d tokens' % nr,
                       trace.name('store'), by=by)
        last[i % nr] = machine.run('store', 1 * MS, ready, by)
    trace.name(name)
    fair_samples(trace, machine, max(machine.free))
    return trace


folder = sys.argv[1]
planted.limit().write(folder + '/limit')
for change in ('tokens=disk:2', 'tokens=other:2', 'priority=store:high'):
    tokens(2, 'fix: ' + change).write(folder + '/' + change)
causes.window().write(folder + '/window')
fixed = causes.window_fixed()
fixed.name('fix: window=stage:8')
fixed.write(folder + '/window=stage:8')
looped.loops_uneven().write(folder + '/loop')
fixed = looped.loops_even()
fixed.name('fix: grain=smooth:100')
fixed.write(folder + '/grain=smooth:100')
END

# The recording is $AS_IT_IS, or that of the change.
cat >"$dir/command" <<'END'
#!/bin/sh
echo output of the command
name=$AS_IT_IS
[ -z "${LKDF_FIX-}" ] || name=$LKDF_FIX
[ "${LKDF_WORKERS-}" != 2 ] || name=tokens=disk:2
echo "${LKDF_FIX-none}" >>"${0%/*}/seen"
exec cp "${0%/*}/$name" "$LKDF_TRACE"
END
chmod +x "$dir/command"

# fixed RC AS_IT_IS CHANGE WORDS...
fixed() {
	want=$1
	name=$2
	change=$3
	shift 3
	rm -f "$dir/seen"
	env -u LKDF_FIX -u LKDF_WORKERS AS_IT_IS="$name" "$lkdf" try -q \
		--fix "$change" "$@" -- "$dir/command" >"$dir/log" 2>"$dir/err"
	[ $? -eq "$want" ]
}
says() {
	grep -qE "$1" "$dir/log"
	ok $? "it says $1"
}

fixed 0 limit tokens=disk:2
ok $? 'a limit with two tokens for one' "$dir/err"
says '^as it is +100 ms +the median of 3 runs of 100 ms to 100 ms$'
says '^predicted +50\.. ms +50 % less$'
says '^tokens=disk:2 +50\.. ms +50 % less, the median of 3 runs'
! grep -q 'chance' "$dir/log"
ok $? 'runs that differ are told as such'
[ "$(tr '\n' ' ' <"$dir/seen")" = \
	'none tokens=disk:2 none tokens=disk:2 none tokens=disk:2 ' ]
ok $? 'the command runs in turns, three times each' "$dir/seen"
! grep -q 'output of' "$dir/log" && grep -q 'output of' "$dir/err"
ok $? "its output goes to standard error"
fixed 0 limit priority=store:high -n 1
ok $? 'another change, once'
says '^predicted +100 ms +0 % (less|more)$'
fixed 0 window window=stage:8
ok $? 'a window of eight for one' "$dir/err"
says '^predicted .*at most 7[0-9] % less$'
fixed 0 loop grain=smooth:100
ok $? 'a finer grain of a loop' "$dir/err"
says '^predicted +[0-9.]+ ms +[0-9.]+ % less$'
fixed 0 tokens=disk:2 tokens=disk:2
ok $? 'a change that changes nothing' "$dir/err"
says 'some runs of both are as long: the change is not told from chance'
fixed 0 limit workers=2
ok $? 'another number of workers'
says '^predicted +100 ms +0 % (less|more)$'
[ "$(sort -u "$dir/seen")" = none ]
ok $? 'sets no option fix' "$dir/seen"
fixed 0 limit priority=store:high --json
python3 - "$dir/log" <<'END'
import json
import sys
r = json.load(open(sys.argv[1]))
assert r['schema'] == 'lkdf/try_fix/1' and r['fix'] == 'priority=store:high'
assert len(r['before_ns']) == len(r['after_ns']) == 3, r
assert abs(r['gain'] - 0.5) < 0.01 and abs(r['predicted']) < 0.01, r
assert not r['overlaps'] and not r['at_most'] and r['lacks'] is None
END
ok $? 'JSON has what was predicted and what was measured'
python3 tests/tools/schema.py Documentation/schema/try_fix.json "$dir/log" \
	>"$dir/err" 2>&1
ok $? 'as its schema says' "$dir/err"
# shellcheck disable=SC2016 # of the command
LKDF_FIX=depth=a:1 AS_IT_IS=limit "$lkdf" try -q -n 1 --fix tokens=disk:2 \
	-- sh -c 'echo "$LKDF_FIX" >>"$0/seen"; cp "$0/limit" "$LKDF_TRACE"' \
	"$dir" >"$dir/log" 2>&1
grep -qx 'depth=a:1,tokens=disk:2' "$dir/seen" &&
	grep -qx 'depth=a:1' "$dir/seen"
ok $? 'an option fix of the user stays' "$dir/seen"

cp "$dir/limit" "$dir/tokens=none:2"
fixed 4 limit tokens=none:2 &&
	grep -q 'tokens=none:2: the program made no limit of that name' \
		"$dir/err"
ok $? 'a name that nothing has is said' "$dir/err"
fixed 0 limit tokens=other:2 -n 1
ok $? 'a limit for which nobody waited'
says '^predicted +- +no task waited for tokens of that limit$'

# refused PATTERN WORDS...
refused() {
	pattern=$1
	shift
	"$lkdf" try -q "$@" -- true >"$dir/log" 2>&1
	[ $? -eq 2 ] && grep -q "$pattern" "$dir/log"
}
refused 'expected VERB=NAME:VALUE' --fix tokens=disk
ok $? 'a change without a value is refused'
refused 'expected one of workers' --fix token=disk:4
ok $? 'so is another verb'
refused 'no number from 1 on' --fix tokens=disk:0
ok $? 'and no tokens'
refused 'the same number twice' --fix tokens=disk:2,depth=disk:2,tokens=disk:3
ok $? 'and two changes of one number'
refused 'expected 1 to 32 runs' --fix tokens=disk:2 -n 0
ok $? 'and no runs'
refused 'one number of workers' --fix tokens=disk:2 -w 1,2
ok $? 'and several numbers of workers'
refused 'do not go with it' --fix tokens=disk:2 --lines
ok $? 'and cache lines'

# A program: the answer depends on the machine, but for what was changed.
"$lkdf" try -q -n 1 -w 2 --fix priority=potrf:high -- \
	"$build/examples/cholesky" --n 128 --block 32 >"$dir/log" 2>"$dir/err" &&
	grep -q '^priority=potrf:high' "$dir/log"
ok $? 'a program of the library' "$dir/err"
"$lkdf" try -q -n 1 -w 2 --fix priority=nothing:high -- \
	"$build/examples/cholesky" --n 128 --block 32 >"$dir/log" 2>"$dir/err"
[ $? -eq 4 ] &&
	grep -q 'priority=nothing:high: no kind of that name was made' \
		"$dir/err"
ok $? 'the library says which change no object got' "$dir/err"
# Each change reaches the object of that name; how long runs take is the
# machine's business.
if nm -D "$lkdf" 2>/dev/null | grep -qE '__(asan|tsan)_init'; then
	skip 'a program for each change' 'the sanitizer wants to be loaded first'
else
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -Ilib/include "-I$build/include" \
		-o "$dir/knobs" tests/tools/knobs.c "-L$build" -llkdf \
		"-Wl,-rpath,$build" >"$dir/log" 2>&1
	ok $? 'a program with a number for each change'
	for change in tokens=disk:4 window=batch:8 priority=large:high \
		grain=rows:1 workers=8; do
		"$lkdf" try -q -n 1 --fix "$change" -- "$dir/knobs" \
			"${change%%=*}" >"$dir/log" 2>"$dir/err" &&
			grep -q "^$change  " "$dir/log" && ! grep -q 'fix: ' "$dir/err"
		ok $? "$change reaches it" "$dir/err"
	done
	"$lkdf" try -q -n 1 --fix grain=row:1 -- "$dir/knobs" grain \
		>"$dir/log" 2>"$dir/err"
	[ $? -eq 4 ] && grep -q 'no loop of that name' "$dir/err"
	ok $? 'a loop of another name is none' "$dir/err"
fi
echo "1..$nr"
exit "$failed"
