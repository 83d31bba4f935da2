#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Weakens the ordered accesses that the given programs check, one at a time. A
# mutant that no program kills must be in mutants.allow, with a reason; one
# that is listed there must survive. Speaks TAP. A program
# does not search for what one before it has killed.
#
#   MC_SHARE=I/N   only a share of the mutants, chosen by their names: 0/1 is all
#   MC_JOBS=N      so many at a time (1)
#   MC_LIMIT=N     executions of each scenario (8000)
#   MC_FILES=PATH  only accesses in files whose names begin so (lib/)
set -u
allow=$(dirname "$0")/mutants.allow
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
: "${MC_LIMIT:=8000}" "${MC_FILES:=lib/}" "${MC_SHARE:=0/1}" "${MC_JOBS:=1}"
share=${MC_SHARE%/*}
nr_shares=${MC_SHARE#*/}

# run JOB PROGRAM...: a job's mutants are its own, in all programs.
run() {
	job=$1
	shift
	: >"$dir/all.$job"
	for program in "$@"; do
		"$program" --mutate "$MC_FILES" --limit "$MC_LIMIT" \
			--seconds 60 --known "$dir/all.$job" \
			--share "$((share + nr_shares * job))/$((nr_shares * MC_JOBS))" \
			>"$dir/one.$job" || return 1
		cat "$dir/one.$job" >>"$dir/all.$job"
	done
	: >"$dir/done.$job"
}

job=0
while [ "$job" -lt "$MC_JOBS" ]; do
	run "$job" "$@" &
	job=$((job + 1))
done
wait
for i in "$dir"/all.*; do
	[ -f "$dir/done.${i##*.}" ] || exit 1
done
sed -n 's/^killed //p' "$dir"/all.* | sort -u >"$dir/killed"
sed -n 's/^survived //p' "$dir"/all.* | sort -u | comm -23 - "$dir/killed" \
	>"$dir/survived"
sed -n 's/ *#.*//; /./p' "$allow" |
	awk -v files="$MC_FILES" 'index($0, files) == 1' | sort -u \
	>"$dir/allowed"
comm -23 "$dir/survived" "$dir/allowed" >"$dir/unlisted"
if [ "$nr_shares" -eq 1 ]; then
	comm -13 "$dir/survived" "$dir/allowed" >"$dir/stale"
else
	comm -12 "$dir/killed" "$dir/allowed" >"$dir/stale"
fi
echo "# share $MC_SHARE: $(wc -l <"$dir/killed") killed," \
	"$(wc -l <"$dir/survived") survived"
n=0
bad=0
report() {
	n=$((n + 1))
	if [ -s "$2" ]; then
		bad=1
		echo "not ok $n - $1"
		sed 's/^/#   /' "$2"
	else
		echo "ok $n - $1"
	fi
}
report "every surviving mutant has a reason" "$dir/unlisted"
report "every listed mutant survives" "$dir/stale"
grep -c . "$dir/killed" >/dev/null && : >"$dir/none" ||
	echo "no mutant was killed" >"$dir/none"
report "some mutant was killed" "$dir/none"
echo "1..$n"
exit "$bad"
