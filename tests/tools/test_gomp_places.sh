#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Where threads of regions are with OMP_PLACES and OMP_PROC_BIND: as with
# libgomp. With one CPU all of it is one place.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/gomp.sh
. tests/tools/gomp.sh

if ! gcc -O1 -fopenmp -D_GNU_SOURCE -o "$dir/places" tests/gomp/places.c \
	>"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi
skip_sanitizers

# at OUTPUT VARIABLE...: where threads of the regions are with these
at() {
	to=$1
	shift
	: >"$to"
	for region in region three close spread many primary nest; do
		env OMP_NUM_THREADS=2 "$@" "$limit" 120 "$dir/places" $region \
			>>"$to" 2>"$dir/said" || return 1
	done
}

# same VARIABLE...: at the same places with both libraries
same() {
	at "$dir/want" "$@" && at "$dir/got" "$@" LD_PRELOAD="$lib" &&
		diff "$dir/want" "$dir/got" >"$dir/log"
	ok $? "$*"
}

first=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
next=$(taskset -pc $$ | sed 's/.*[,-]\([0-9]*\)$/\1/; s/.*: *//')
same OMP_PROC_BIND=true
same OMP_PROC_BIND=close
same OMP_PROC_BIND=spread,close
same OMP_PROC_BIND=primary
same OMP_PROC_BIND=false OMP_PLACES=cores
same OMP_PLACES=threads
same OMP_PLACES='threads(1)'
same OMP_PLACES=cores OMP_PROC_BIND=spread
same OMP_PLACES=sockets OMP_PROC_BIND=close
same OMP_PLACES=ll_caches
same OMP_PLACES=numa_domains
same OMP_PLACES="{$first},{$next}"
same OMP_PLACES="{$next},{$first}" OMP_PROC_BIND=close
same OMP_PLACES="{$first:1}:2:$((next - first))" OMP_PROC_BIND=spread
same OMP_PLACES="{$first,$next},{$next}" OMP_PROC_BIND=close
same OMP_PLACES="{$first},{$first},{$next},{$next}" OMP_PROC_BIND=spread
same OMP_PLACES="{$first},{$next},{$first}" OMP_PROC_BIND=spread,close
same GOMP_CPU_AFFINITY="$next $first"

env OMP_PLACES=moons OMP_NUM_THREADS=2 LD_PRELOAD="$lib" "$dir/places" region \
	>"$dir/got" 2>"$dir/log"
[ "$(grep -c 'OMP_PLACES' "$dir/log")" -eq 1 ]
ok $? 'places that nobody knows are named once'
env OMP_PROC_BIND=never OMP_NUM_THREADS=2 LD_PRELOAD="$lib" "$dir/places" region \
	>"$dir/got" 2>"$dir/log"
grep -q 'OMP_PROC_BIND=never is not understood' "$dir/log"
ok $? 'and so is a binding'
env OMP_DISPLAY_ENV=verbose OMP_PLACES=cores OMP_NUM_THREADS=2 \
	LD_PRELOAD="$lib" "$dir/places" region >"$dir/got" 2>"$dir/log"
grep -q 'liblkdf-gomp: .*OMP_SCHEDULE' "$dir/log" &&
	grep -q "OMP_PLACES = '{" "$dir/log"
ok $? 'OMP_DISPLAY_ENV=verbose'

echo "1..$nr"
exit $failed
