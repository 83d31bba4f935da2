#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# tests/run.sh counts right, and tells again what failed: it is given programs
# that pass, fail, crash, hang, skip and plan more than they run.
set -u
run=$(cd "$(dirname "$0")" && pwd)/run.sh
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0
limit=1

# program NAME TEXT
program() {
	printf '#!/bin/sh\n%s\n' "$2" >"$dir/$1"
	chmod +x "$dir/$1"
}

# counts WHAT EXPECTED-LINE EXPECTED-STATUS ASIDE PROGRAM...
counts() {
	what=$1
	line=$2
	status=$3
	beside=
	for t in $4; do
		beside="$beside $dir/$t"
	done
	shift 4
	names=
	for t in "$@"; do
		names="$names $dir/$t"
	done
	# shellcheck disable=SC2086 # one word each
	got=$(BUILD=$dir TEST_TIMEOUT=$limit ASIDE=$beside "$run" $names 2>&1)
	rc=$?
	nr=$((nr + 1))
	if [ "$rc" -eq "$status" ] &&
		[ "$(printf '%s\n' "$got" | tail -n 1)" = "$line" ]; then
		echo "ok $nr - $what"
	else
		echo "not ok $nr - $what"
		printf '%s\n' "status $rc" "$got" | sed 's/^/# /'
		failed=1
	fi
}

# again WHAT EXPECTED-TEXT ASIDE PROGRAM: what is said between all the output
# and the last line, without "# failed: ".
again() {
	got=$(BUILD=$dir TEST_TIMEOUT=1 ASIDE=${3:+$dir/$3} "$run" \
		"$dir/$4" 2>&1 | tail -n 20 | sed -n 's/^# failed: //p')
	nr=$((nr + 1))
	if [ "$got" = "$2" ]; then
		echo "ok $nr - $1"
	else
		echo "not ok $nr - $1"
		printf '%s\n' "$got" | sed 's/^/# /'
		failed=1
	fi
}

program good 'echo ok 1; echo ok 2 - with words; echo 1..2'
program bad 'echo ok 1; echo not ok 2; echo 1..2; exit 1'
program worse 'echo ok 1; echo 1..1; exit 3'
program dead 'echo ok 1; kill -SEGV $$; echo 1..1'
program hangs 'echo ok 1; sleep 30; echo 1..1'
program short 'echo ok 1; echo 1..2'
program silent ':'
program skips 'echo 1..0 "# SKIP" no luck'
program some 'echo ok 1; echo ok 2 "# SKIP" no luck; echo 1..2'

counts "two facts" "2 passed, 0 failed, 0 skipped" 0 "" good
counts "several programs" "4 passed, 0 failed, 0 skipped" 0 "" good good
counts "a fact that fails" "3 passed, 1 failed, 0 skipped" 1 "" good bad
counts "a status without such" "1 passed, 1 failed, 0 skipped" 1 "" worse
counts "a crash" "3 passed, 1 failed, 0 skipped" 1 "" good dead
counts "a program that hangs" "1 passed, 1 failed, 0 skipped" 1 "" hangs
counts "fewer facts than planned" "1 passed, 1 failed, 0 skipped" 1 "" short
counts "nothing is said" "0 passed, 1 failed, 0 skipped" 1 "" silent
counts "a program is not there" "2 passed, 1 failed, 0 skipped" 1 "" good none
# An ELF file whose bytes are a script for dash: it makes a file.
{
	head -c 18 /proc/self/exe
	printf '\377\376\n: >"%s/made"\necho ok 1; echo 1..1\n' "$dir"
} >"$dir/foreign"
program text 'echo ok 1; echo 1..1'
sed -i 1d "$dir/text"
chmod +x "$dir/foreign"
counts "a program of another machine" "0 passed, 1 failed, 0 skipped" 1 "" foreign
counts "a text that names no interpreter" "0 passed, 1 failed, 0 skipped" 1 "" text
nr=$((nr + 1))
if [ ! -e "$dir/made" ] && BUILD=$dir "$run" "$dir/foreign" |
	grep -q '^# failed: .*foreign is for another machine$'; then
	echo "ok $nr - a program of another machine is not started"
else
	echo "not ok $nr - a program of another machine is not started"
	failed=1
fi
counts "all is skipped" "0 passed, 0 failed, 1 skipped" 1 "" skips
counts "some is skipped" "1 passed, 0 failed, 1 skipped" 0 "" some
counts "beside others" "5 passed, 0 failed, 1 skipped" 0 "good some" good
counts "one beside fails" "3 passed, 1 failed, 0 skipped" 1 bad good
counts "one beside crashes" "3 passed, 1 failed, 0 skipped" 1 "dead" good
counts "one of ours fails" "3 passed, 1 failed, 0 skipped" 1 good bad
counts "all beside is skipped" "2 passed, 0 failed, 1 skipped" 0 skips good

# Each ends once all three run.
for name in a b c; do
	program "meet_$name" "touch '$dir/here.$name'
until [ -e '$dir/here.a' ] && [ -e '$dir/here.b' ] && [ -e '$dir/here.c' ]; do
	sleep 0.05
done
echo ok 1; echo 1..1"
done
limit=30
counts "two lanes beside the first" "3 passed, 0 failed, 0 skipped" 0 \
	"meet_a meet_b" meet_c
limit=1

program why 'echo not ok 1 - it holds; echo "# got 1"; echo ok 2; echo "# no"
echo 1..2; exit 1'
again "nothing failed" "" good good
again "a fact with its reason" "why: not ok 1 - it holds
why: # got 1" "" why
again "a status" "worse: # $dir/worse exit status 3" "" worse
again "one beside, once" "why: not ok 1 - it holds
why: # got 1" why good
# said WHAT EXPECTED-TEXT PROGRAM...: before the last line, times made 0.0
said() {
	what=$1
	want=$2
	shift 2
	names=
	for t in "$@"; do
		names="$names $dir/$t"
	done
	# shellcheck disable=SC2086 # one word each
	got=$(BUILD=$dir "$run" $names 2>&1 | grep -e ' s ' -e assertions |
		sed 's/[0-9]*[.][0-9]/0.0/')
	nr=$((nr + 1))
	if [ "$got" = "$want" ]; then
		echo "ok $nr - $what"
	else
		echo "not ok $nr - $what"
		printf '%s\n' "$got" | sed 's/^/# /'
		failed=1
	fi
}

mkdir -p "$dir/tests/api" "$dir/asan/tests/api"
program asan/tests/api/good 'sleep 0.2; echo ok 1; echo ok 2; echo 1..2'
program tests/api/good 'echo ok 1; echo ok 2; echo 1..2'
program machine 'echo "# configuration: four"; echo "ok 1 - api/good: a"
echo "ok 2 - vm/other: a"; echo "ok 3 - vm/other: b # SKIP no"
echo "ok 4 - it boots"; echo 1..4'
said "two builds make the same assertions" "#     0.0 s asan/tests/api/good
#     0.0 s tests/api/good
#     0.0 s in all, 2 programs
# 2 assertions in 2 configurations" tests/api/good asan/tests/api/good
said "a machine is a configuration of the programs in it" \
	"#     0.0 s in all, 1 programs
# 3 assertions in 1 configurations" machine
said "with them outside" "#     0.0 s asan/tests/api/good
#     0.0 s machine
#     0.0 s in all, 2 programs
# 4 assertions in 2 configurations" machine asan/tests/api/good
got=$(BUILD=$dir LEFT_OUT='this: make that; more; ' "$run" "$dir/good" |
	grep left)
nr=$((nr + 1))
if [ "$got" = "# left out: this: make that
# left out: more" ]; then
	echo "ok $nr - what is left out is told"
else
	echo "not ok $nr - what is left out is told: $got"
	failed=1
fi
# The time was over in 1970, or will be in 2100.
for until in 1 4102444800; do
	got=$(BUILD=$dir TEST_UNTIL=$until ASIDE="$dir/some" "$run" "$dir/good" \
		"$dir/skips" 2>&1 | grep -e 'left out' -e ': the time' -e passed |
		sed '/left out/s/over: .*/over: its names/')
	nr=$((nr + 1))
	case $until in
	1) want="  SKIP    good: the time is over
  SKIP    skips: the time is over
  SKIP    some: the time is over
# left out: 3, for the time was over: its names
0 passed, 0 failed, 3 skipped" ;;
	*) want='3 passed, 0 failed, 2 skipped' ;;
	esac
	if [ "$(echo "$got" | sort)" = "$(echo "$want" | sort)" ]; then
		echo "ok $nr - programs that would begin after $until s are left out"
	else
		echo "not ok $nr - programs that would begin after $until s: $got"
		failed=1
	fi
done
# What passes is known the next time, in a folder without times as in this, and a watchdog of minutes is one of seconds.
if command -v "${CC:-cc}" >/dev/null; then
	cat >"$dir/known.c" <<-'END'
		#include "tests/tap.h"
		int main(int argc, char **argv)
		{
			char path[256];
			tap_start(600);
			ok(argc == 1, "it begins");
			snprintf(path, sizeof(path), "%s.once", argv[0]);
			if (access(path, F_OK))
				fclose(fopen(path, "w"));
			else
				for (;;)
					pause();
			return tap_end();
		}
	END
	"${CC:-cc}" -D_GNU_SOURCE -I "$(dirname "$run")/.." -o "$dir/known" \
		"$dir/known.c"
	limit=300
	TEST_SLACK=1 HANG_DEBUGGER=none
	export TEST_SLACK HANG_DEBUGGER
	rm "$dir/usual"
	counts "a program is quick" "1 passed, 0 failed, 0 skipped" 0 "" known
	got=$(BUILD=$dir TEST_TIMEOUT=300 "$run" "$dir/known" 2>&1)
	unset TEST_SLACK HANG_DEBUGGER
	nr=$((nr + 1))
	if echo "$got" | grep -q '^# hangs: after fact 1, "it begins" at'; then
		echo "ok $nr - when it hangs it says after which fact"
	else
		echo "not ok $nr - when it hangs it says after which fact"
		printf '%s\n' "$got" | sed 's/^/# /'
		failed=1
	fi
	limit=1
else
	nr=$((nr + 1))
	echo "ok $nr - a program that hangs says where # SKIP no cc"
fi
# A test of the kernel's interfaces that hangs says in what.
if command -v "${CC:-cc}" >/dev/null; then
	printf '%s\n' '#include "harness.h"' 'TEST_LIMIT(it_hangs, 1)' '{' \
		'	for (;;)' '		pause();' '}' >"$dir/hang.c"
	"${CC:-cc}" -D_GNU_SOURCE -I "$(dirname "$run")/kmod" -o "$dir/hang" \
		"$dir/hang.c"
	got=$(LKDF_TIME_SCALE=1 "$dir/hang")
	nr=$((nr + 1))
	if echo "$got" | grep -q '^# hangs: ' &&
		echo "$got" | grep -q '^# thread [0-9]*: comm: hang$' &&
		echo "$got" | grep -q '^not ok 1 it hangs$'; then
		echo "ok $nr - a test of the kernel says where it hangs"
	else
		echo "not ok $nr - a test of the kernel says where it hangs"
		printf '%s\n' "$got" | sed 's/^/# /'
		failed=1
	fi
else
	nr=$((nr + 1))
	echo "ok $nr - a test of the kernel says where it hangs # SKIP no cc"
fi
echo "1..$nr"
exit "$failed"
