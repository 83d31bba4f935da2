#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# With liblkdf-gomp no task runs on a thread of the team that has not begun the
# region itself, in new processes with 2 to 16 threads. GOMP_PROCESSES=N: so many
# of each size.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/gomp.sh
. tests/tools/gomp.sh
each=${GOMP_PROCESSES:-8}

if ! gcc -O1 -fopenmp -o "$dir/begun" tests/gomp/begun.c >"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi
skip_sanitizers
OMP_NUM_THREADS=4 "$dir/begun" >"$dir/want" && [ -s "$dir/want" ]
ok $? 'libgomp runs the program'
n=2
while [ $n -le 16 ]; do
	i=0
	while [ $i -lt "$each" ] &&
		OMP_NUM_THREADS=$n LD_PRELOAD=$lib "$limit" 120 "$dir/begun" \
			>"$dir/got" 2>"$dir/log" &&
		diff "$dir/want" "$dir/got" >"$dir/log"; do
		i=$((i + 1))
	done
	[ $i -eq "$each" ]
	ok $? "$each processes with $n threads"
	n=$((n + 1))
done

echo "1..$nr"
exit $failed
