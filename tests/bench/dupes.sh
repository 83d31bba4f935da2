#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The example dupes against fdupes and jdupes (Debian packages): seconds for a
# tree whose files are in memory (warm) and one whose are not (cold). The
# programs take turns; medians are printed, and how many sets each found.
#
#   tests/bench/dupes.sh [DIR [ROUNDS]]        (default /usr/share, 5)
#
# DUPES: the program, else that in $BUILD. BEFORE: another dupes, to compare
# with. As root all caches are dropped for cold rounds, otherwise those of the
# files alone. What is not installed is a row that says so. Not a test: it
# judges nothing, since times of a busy machine mean little.
set -u
here=$(cd "$(dirname "$0")" && pwd)
dir=${1:-/usr/share}
rounds=${2:-5}
dupes=${DUPES:-$here/../../${BUILD:-build}/examples/dupes}
before=${BEFORE:-}
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# How each is asked for all sets, empty files left out.
call() {
	case $1 in
	lkdf) "$dupes" -q --top 0 "$dir" ;;
	threads) LKDF_IO=threads "$dupes" -q --top 0 "$dir" ;;
	before) "$before" -q --top 0 "$dir" ;;
	fdupes) fdupes -rqn "$dir" ;;
	jdupes) jdupes -rq "$dir" ;;
	esac
}

is_there() {
	case $1 in
	lkdf | threads) [ -x "$dupes" ] ;;
	before) [ -x "$before" ] ;;
	*) command -v "$1" >/dev/null ;;
	esac
}

# Sets in what it has printed.
nr_sets() {
	case $1 in
	fdupes | jdupes) grep -c '^$' "$2" ;;
	*) grep -c ' wasted: ' "$2" ;;
	esac
}

drop_caches() {
	sync
	if [ -w /proc/sys/vm/drop_caches ] &&
		echo 3 2>/dev/null >/proc/sys/vm/drop_caches; then
		return
	fi
	find "$dir" -xdev -type f -exec \
		dd if={} iflag=nocache count=0 status=none \; 2>/dev/null
}

# measure PROGRAM STATE: adds a time in ms to $tmp/STATE.PROGRAM
measure() {
	[ "$2" = warm ] || drop_caches
	start=$(date +%s%N)
	call "$1" >"$tmp/out.$1" 2>/dev/null
	end=$(date +%s%N)
	echo $(((end - start) / 1000000)) >>"$tmp/$2.$1"
}

median() {
	sort -n "$1" | awk '{ a[NR] = $1 } END { print a[int((NR + 1) / 2)] }'
}

# row PROGRAM: its medians, and how many times longer than ours
row() {
	if ! is_there "$1"; then
		printf '%-8s absent\n' "$1"
		return
	fi
	warm=$(median "$tmp/warm.$1")
	cold=$(median "$tmp/cold.$1")
	echo "$1 $warm $cold $(median "$tmp/warm.lkdf")" \
		"$(median "$tmp/cold.lkdf") $(nr_sets "$1" "$tmp/out.$1")" |
		awk '{ printf "%-8s %8.3f %6.2f %8.3f %6.2f %8d\n", $1,
			$2 / 1000, $2 / ($4 ? $4 : 1), $3 / 1000,
			$3 / ($5 ? $5 : 1), $6 }'
}

if ! is_there lkdf; then
	echo "dupes.sh: no program $dupes" >&2
	exit 1
fi
programs="lkdf threads fdupes jdupes"
[ -z "$before" ] || programs="$programs before"
for state in cold warm; do
	# Not counted: the first one reads what the others find in memory.
	[ $state = cold ] || call lkdf >/dev/null 2>&1
	i=0
	while [ $i -lt "$rounds" ]; do
		for p in $programs; do
			is_there "$p" && measure "$p" $state
		done
		i=$((i + 1))
	done
done
echo "$dir, $rounds rounds, medians; load $(cut -d' ' -f1 /proc/loadavg)"
printf '%-8s %8s %6s %8s %6s %8s\n' program 'warm s' 'x lkdf' 'cold s' \
	'x lkdf' sets
for p in $programs; do
	row "$p"
done
