# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh
# What the test scripts share: sourced first, it goes to the top of the sources
# and makes $dir, which goes when the script ends. "$limit" SECONDS COMMAND... is
# timeout(1) in seconds of an idle machine, see limit.c. The script's last lines
# are echo "1..$nr" and exit $failed.
set -u
cd "$(dirname "$0")/../.." || exit 1
build=$(realpath "${BUILD:-build}")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
trap 'exit 1' HUP INT TERM
limit=$build/tests/limit
nr=0
failed=0
# make check builds it; plain make does not.
[ -x "$limit" ] || [ ! -x "$build/lkdf" ] || {
	mkdir -p "$build/tests" && "${CC:-cc}" -D_GNU_SOURCE -I. -O1 \
		-o "$dir/limit" tests/tools/limit.c && mv "$dir/limit" "$limit"
} || exit 1

# ok STATUS FACT [FILE]: a fact that is not so shows the end of the file, or of
# $dir/log.
ok() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $nr - $2"
	tail -n 40 "${3:-$dir/log}" | sed 's/^/# /'
}

skip() {
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

# How many times as long as on an idle machine a thing takes now.
slowness() {
	read -r load _ _ running _ </proc/loadavg
	load=${load%.*}
	running=${running%/*}
	[ "$load" -gt "$running" ] || load=$running
	echo $((${LKDF_TIME_SCALE:-1} * (1 + load / $(getconf _NPROCESSORS_ONLN))))
}

# await COMMAND...: until it succeeds, for 20 seconds of an idle machine at most.
await() {
	i=0
	until "$@"; do
		i=$((i + 1))
		[ $i -lt 400 ] || [ $i -lt $((400 * $(slowness))) ] || return 1
		sleep 0.05
	done
}

# full REASON FACT COMMAND...: a verb of lkdf whose standard output takes nothing.
full() {
	reason=$1
	fact=$2
	shift 2
	"$limit" 60 "$@" >/dev/full 2>"$dir/log"
	rc=$?
	[ $rc -eq 4 ] && grep -q "^lkdf.*: .*$reason" "$dir/log" &&
		grep -q 'try:   give it more room' "$dir/log"
	ok $? "$fact > /dev/full: exit status 4, and why"
}
