#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Runs TAP programs one after another and ends with the one line that counts:
# N passed, N failed, N skipped. A program that crashes or plans more than it
# ran counts as failed. Output of failing programs is shown whole. Names are
# those below $BUILD. What took 10 seconds and more is told with its time.
set -u
passed=0
failed=0
skipped=0
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for t in "$@"; do
	began=$(date +%s)
	timeout -k 5 "${TEST_TIMEOUT:-480}" "$t" >"$log" 2>&1 </dev/null
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
	else
		[ "$p" -gt "$s" ] &&
			printf '  %-7s %s (%d)%s\n' PASS "$name" "$((p - s))" \
				"$took"
		grep '^ok .*# SKIP' "$log" | sed 's/^/          /'
	fi
done
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
