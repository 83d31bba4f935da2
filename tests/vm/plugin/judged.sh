#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# For tests to source: judged NAME NODES CPUS boots the machine, prints
# what the judge says without the plan, and sets report and nr, the number of
# facts so far. Ends the test where there is no machine or it did not end well.
build=${BUILD:-build}
judge=$build/tests/vm/plugin/judge
why=$(mktemp)
wrong=$(mktemp)
trap 'rm -f "$why" "$wrong"' EXIT

judged() {
	report=$build/vm/$1/report
	tests/vm/plugin/counted.sh "$1" true >"$why" 2>&1
	rc=$?
	shift
	if [ $rc -eq 3 ]; then
		echo "1..0 # SKIP $(tail -n 1 "$why")"
		exit 0
	fi
	if [ $rc -ne 0 ]; then
		cat "$why"
		exit 1
	fi
	"$judge" "$report" "$@" >"$why"
	grep -v '^1\.\.' "$why"
	nr=$(sed -n 's/^1\.\.//p' "$why")
	[ -n "$nr" ] || exit 1
}
