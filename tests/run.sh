#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Runs TAP programs one after another and ends with the one line that counts:
# N passed, N failed, N skipped. A program that crashes or plans more than it
# ran counts as failed. Output of failing programs is shown whole, and what
# failed in them is told once more before the last line, as "# failed: ...". Names
# are those below $BUILD. What took 10 seconds and more is told with its time.
#
# ASIDE: names of programs that run one after another beside the others. What
# they print comes at the end, and their counts are added.
set -u
# A make that a program starts has none of our make's jobs.
unset MAKEFLAGS MFLAGS
passed=0
failed=0
skipped=0
log=$(mktemp)
aside_log=$(mktemp)
again=$(mktemp)
aside_pid=
trap 'rm -f "$log" "$aside_log" "$again"' EXIT
if [ -n "${ASIDE:-}" ]; then
	beside=$ASIDE
	# shellcheck disable=SC2086 # one word each
	ASIDE='' "$0" $beside >"$aside_log" 2>&1 </dev/null &
	aside_pid=$!
fi

# The facts that failed and what is said of them, five lines at most, and how a
# program ended that has none.
tell_again() {
	awk -v name="$1" '
	/^ok |^1\.\./ { left = 0 }
	/^not ok/ { left = 6 }
	left > 0 { print "# failed: " name ": " $0; left--; said = 1 }
	{ last = $0 }
	END { if (!said) print "# failed: " name ": " last }' \
		"$log" >>"$again"
}

for t in "$@"; do
	began=$(date +%s)
	timeout -k 5 "${TEST_TIMEOUT:-1500}" "$t" >"$log" 2>&1 </dev/null
	rc=$?
	took=$(($(date +%s) - began))
	[ "$took" -ge 10 ] && took=", $took s" || took=
	name=${t#"${BUILD:-build}/"}
	p=$(grep -c '^ok .*' "$log")
	s=$(grep -c '^ok .*# SKIP' "$log")
	f=$(grep -c '^not ok' "$log")
	if grep -q '^1\.\.0 # SKIP' "$log"; then
		s=1 p=1
		printf '  %-7s %s: %s\n' SKIP "$name" \
			"$(sed -n 's/^1\.\.0 # SKIP //p' "$log")"
	elif ! grep -q "^1\.\.$((p + f))\$" "$log"; then
		f=$((f + 1))
		echo "# $t ended early, exit status $rc" >>"$log"
	elif [ "$rc" -ne 0 ] && [ "$f" -eq 0 ]; then
		f=1
		echo "# $t exit status $rc" >>"$log"
	fi
	passed=$((passed + p - s))
	skipped=$((skipped + s))
	failed=$((failed + f))
	if [ "$f" -gt 0 ]; then
		printf '  %-7s %s\n' FAIL "$t"
		cat "$log"
		tell_again "$name"
	else
		[ "$p" -gt "$s" ] &&
			printf '  %-7s %s (%d)%s\n' PASS "$name" "$((p - s))" \
				"$took"
		grep -e '^ok .*# SKIP' -e '^# note: ' "$log" |
			sed 's/^/          /'
	fi
done
if [ -n "$aside_pid" ]; then
	wait "$aside_pid"
	rc=$?
	sed -e '$d' -e '/^# failed: /d' "$aside_log"
	grep '^# failed: ' "$aside_log" >>"$again"
	counts=$(tail -n 1 "$aside_log" |
		sed -n 's/^\([0-9]*\) passed, \([0-9]*\) failed, \([0-9]*\) skipped$/\1 \2 \3/p')
	# shellcheck disable=SC2086 # three words, or none
	set -- $counts
	if [ $# -ne 3 ] || { [ "$rc" -ne 0 ] && [ "$2" -eq 0 ]; }; then
		echo "# what ran aside ended early, exit status $rc"
		set -- "${1:-0}" "$((${2:-0} + 1))" "${3:-0}"
	fi
	passed=$((passed + $1))
	failed=$((failed + $2))
	skipped=$((skipped + $3))
fi
cat "$again"
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
