#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Weakens every ordered access that the given programs check, one at a time. A
# mutant that no program kills must be in mutants.allow, with a reason; one
# that is listed there must survive. Speaks TAP.
set -u
allow=$(dirname "$0")/mutants.allow
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
: >"$dir/all"
: "${MC_LIMIT:=8000}" "${MC_FILES:=lib/}"
for program in "$@"; do
	"$program" --mutate "$MC_FILES" --limit "$MC_LIMIT" --seconds 60 \
		--known "$dir/all" >"$dir/one" || exit 1
	cat "$dir/one" >>"$dir/all"
done
sed -n 's/^killed //p' "$dir/all" | sort -u >"$dir/killed"
sed -n 's/^survived //p' "$dir/all" | sort -u | comm -23 - "$dir/killed" \
	>"$dir/survived"
sed -n 's/ *#.*//; /./p' "$allow" | sort -u >"$dir/allowed"
comm -23 "$dir/survived" "$dir/allowed" >"$dir/unlisted"
comm -13 "$dir/survived" "$dir/allowed" >"$dir/stale"
echo "# $(wc -l <"$dir/killed") killed, $(wc -l <"$dir/survived") survived"
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
