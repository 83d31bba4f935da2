#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Runs TAP programs and ends with the one line that counts:
# N passed, N failed, N skipped. A program that crashes or plans more than it
# ran counts as failed. The output of a program that fails is shown whole; what
# failed is told once more before the last line, as "# failed: ...". There
# stand also the 15 slowest programs, the time of all, and how many assertions
# were made in how many configurations: the sum of the last line counts an
# assertion once for each build and each machine that it ran in. Names are those
# below $BUILD.
#
# Programs run one after another, for many of them look at clocks. Those named
# in $ASIDE look at nothing but their own process: $LANES more lanes (2) take
# them beside the others, for what sleeps leaves its CPU to what computes, and
# the first lane helps when it has nothing else to do. A lane takes the first
# program that nobody has taken: the longest ones are named first, so that the
# lanes end together. What these lanes print comes at the end.
#
# What a program takes when it passes is kept in $BUILD/usual. The next time its
# watchdog (tests/tap.h) rings $TEST_SLACK (10) seconds after that, so that a
# program that hangs tells where and has ended 20 seconds after its usual time.
# These are seconds of an idle machine, as are the $TEST_TIMEOUT (1500) after which
# a program without a watchdog is ended: see tests/watchdog.h.
#
# $TEST_UNTIL: seconds since 1970. A program that would begin later is not run, is
# counted as one that is skipped, and is named before the last line.
#
# $LEFT_OUT: what the caller has left out, told before the last line; parts are
# separated by semicolons.
#
# $LKDF_TALLY: a file that gets a line for each assertion, so that several runs
# can be summed: configuration, program, number of the assertion.
set -u
# A make that a program starts has none of our make's jobs.
unset MAKEFLAGS MFLAGS
# Scripts of tests leave nothing in the tree.
export PYTHONDONTWRITEBYTECODE=1
native=${0%/*}/../tools/native.sh
build=${BUILD:-build}
aside=${ASIDE-}
lanes=${LANES:-2}
left_out=${LEFT_OUT-}
unset ASIDE LANES LEFT_OUT
cpus=$(getconf _NPROCESSORS_ONLN)
work=$(mktemp -d) || exit 1
lane_pids=
# shellcheck disable=SC2086 # one word each
trap '[ -z "$lane_pids" ] || kill $lane_pids 2>/dev/null; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# Seconds since boot, without a process for it.
now() {
	read -r now _ </proc/uptime
}

# The same clock.
now
until=${TEST_UNTIL:+$((${now%.*} + TEST_UNTIL - $(date +%s)))}
unset TEST_UNTIL

# The facts that failed and what is said of them, five lines at most, and how a
# program ended that has none.
tell_again() {
	awk -v name="$1" '
	/^ok |^1\.\./ { left = 0 }
	/^not ok/ { left = 6 }
	left > 0 { print "# failed: " name ": " $0; left--; said = 1 }
	{ last = $0 }
	END { if (!said) print "# failed: " name ": " last }' "$log"
}

# The tally of one program. A machine says which configuration it is, and runs
# several programs.
assertions() {
	config=${1%/tests/*}
	[ "$config" != "$1" ] || config=$build
	program=${1##*tests/}
	awk -v OFS='\t' -v config="$config" -v program="$program" '
	/^# configuration: / { config = $3; is_machine = 1 }
	/^(not )?ok/ && !/# SKIP/ {
		inner = program
		if (is_machine && match($0, / - [a-z_\/]+: /))
			inner = substr($0, RSTART + 3, RLENGTH - 5)
		print config, inner, ++nr[inner]
	}' "$log"
}

# Seconds after which the program's watchdog rings; nothing: as its text says.
limit_of() {
	awk -v name="$1" -v slack="${TEST_SLACK:-10}" '
		$2 == name { print $1 + slack }' "$build/usual" 2>/dev/null
}

# The seconds of an idle machine $1 on this one, as it is now.
wall_of() {
	read -r load _ _ running _ </proc/loadavg
	load=${load%.*}
	running=${running%/*}
	[ "$load" -gt "$running" ] || load=$running
	wall=$(($1 * (1 + load / cpus)))
}

# True, and says so, where the time is over before program $1 begins.
is_too_late() {
	[ -n "$until" ] || return 1
	now
	[ "${now%.*}" -ge "$until" ] || return 1
	printf '  %-7s %s: the time is over\n' SKIP "$1"
	echo "0 0 1 $now $now $1 late" >>"$lane.results"
}

# Says what became of the program; a line of results: passed, failed, skipped,
# from when to when, name.
run_one() {
	name=${1#"$build/"}
	! is_too_late "$name" || return 0
	limit=$(limit_of "$name")
	wall_of "${TEST_TIMEOUT:-1500}"
	now
	began=$now
	# timeout gives what the kernel refuses to start to a shell.
	if [ ! -e "$1" ] || why=$("$native" "$1" 2>&1); then
		TAP_LIMIT=$limit timeout -k 5 "$wall" "$1" >"$log" 2>&1 </dev/null
		rc=$?
		why="$1 ended early, exit status $rc"
	else
		: >"$log"
		rc=126
	fi
	now
	p=$(grep -c '^ok .*' "$log")
	s=$(grep -c '^ok .*# SKIP' "$log")
	f=$(grep -c '^not ok' "$log")
	if grep -q '^1\.\.0 # SKIP' "$log"; then
		s=1 p=1
		printf '  %-7s %s: %s\n' SKIP "$name" \
			"$(sed -n 's/^1\.\.0 # SKIP //p' "$log")"
	elif ! grep -q "^1\.\.$((p + f))\$" "$log"; then
		f=$((f + 1))
		echo "# $why" >>"$log"
	elif [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
		echo "# $1 exit status $rc" >>"$log"
	fi
	if [ "$f" -gt 0 ]; then
		printf '  %-7s %s\n' FAIL "$1"
		cat "$log"
		tell_again "$name" >>"$lane.again"
	else
		[ "$p" -gt "$s" ] &&
			printf '  %-7s %s (%d)\n' PASS "$name" "$((p - s))"
		grep -e '^ok .*# SKIP' -e '^# note: ' "$log" |
			sed 's/^/          /'
	fi
	assertions "$1" >>"$lane.tally"
	echo "$((p - s)) $f $s $began $now $name" >>"$lane.results"
}

# The files of a lane.
lane() {
	lane=$work/$1
	log=$lane.log
	: >"$lane.again"
	: >"$lane.tally"
	: >"$lane.results"
}

# Takes what the other lanes have not taken.
run_aside() {
	i=0
	for t in $aside; do
		i=$((i + 1))
		mkdir "$work/taken.$i" 2>/dev/null && run_one "$t"
	done
}

now
start=$now
[ -n "$aside" ] || lanes=0
n=0
while [ "$n" -lt "$lanes" ]; do
	n=$((n + 1))
	(
		trap - EXIT
		lane "aside.$n"
		run_aside >"$work/said.$n" 2>&1
	) &
	lane_pids="$lane_pids $!"
done
lane first
for t in "$@"; do
	run_one "$t"
done
run_aside
if [ -n "$lane_pids" ]; then
	# shellcheck disable=SC2086 # one word each
	wait $lane_pids
	lane_pids=
	cat "$work"/said.*
fi

# The larger of what it took now and of nine tenths of what it took before: an
# idle machine does not make the next run on a busy one hang.
remember_times() {
	[ -d "$build" ] || return 0
	cat "$build/usual" 2>/dev/null >"$work/before"
	cat "$work"/*.results | awk '
		FILENAME != "-" { usual[$2] = $1; next }
		!$2 && $1 {
			took = $5 - $4
			left = usual[$6] * 9 / 10
			took = took > left ? took : left
			usual[$6] = int(took) + (took > int(took))
		}
		END { for (name in usual) print usual[name], name }
		' "$work/before" - | sort -k 2 >"$work/usual"
	cp "$work/usual" "$build/usual"
}
remember_times

cat "$work"/*.again
cat "$work"/*.tally >"$work/tally"
[ -z "${LKDF_TALLY-}" ] || cat "$work/tally" >>"$LKDF_TALLY"
now
# shellcheck disable=SC2086 # one word each
cat "$work"/*.results | awk -v from="$start" -v to="$now" \
	-v planned="$(($# + $(set -- $aside && echo $#)))" '
	{ passed += $1; failed += $2; skipped += $3; took[NR] = $5 - $4 }
	{ name[NR] = $6 }
	$7 == "late" { nr_late++; late = late " " $6 }
	END {
		if (NR != planned) {
			print "# " planned - NR " programs did not run"
			failed++
		}
		for (n = 0; n < 15 && n < NR && NR > 1; n++) {
			max = 0
			for (i in took)
				if (!max || took[i] > took[max])
					max = i
			printf "# %7.1f s %s\n", took[max], name[max]
			delete took[max]
		}
		printf "# %7.1f s in all, %d programs\n", to - from, NR - nr_late
		if (nr_late)
			printf "# left out: %d, for the time was over:%s\n",
			       nr_late, late
		printf "%d passed, %d failed, %d skipped\n", passed, failed,
		       skipped
	}' >"$work/end"
sed '$d' "$work/end"
awk -F '\t' '
	!(($2, $3) in seen) { nr++; seen[$2, $3] = 1 }
	!($1 in configs) { nr_configs++; configs[$1] = 1 }
	END { printf "# %d assertions in %d configurations\n", nr, nr_configs }
	' "$work/tally"
[ -z "$left_out" ] || echo "$left_out" | tr ';' '\n' |
	sed -n 's/^ *\([^ ]\)/# left out: \1/p'
tail -n 1 "$work/end"
tail -n 1 "$work/end" | grep -q '^[1-9][0-9]* passed, 0 failed'
