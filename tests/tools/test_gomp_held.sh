#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Programs of OpenMP of which a thread is held in a body, with liblkdf-gomp:
# others take what it has not begun, so they end.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/gomp.sh
. tests/tools/gomp.sh

if ! gcc -O2 -fopenmp -o "$dir/held" tests/gomp/held.c >"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi
skip_sanitizers
cat >"$dir/want" <<'END'
dynamic: 3000
chunks: 3000
guided: 3000
nowait: 3000
tasks: 50
waiting: bounded
run: 20000
dynamic threads: as CPUs
threads: 3
END
for n in 1 2 3 8; do
	OMP_NUM_THREADS=$n LD_PRELOAD=$lib "$limit" 120 "$dir/held" \
		>"$dir/got" 2>"$dir/log" &&
		diff "$dir/want" "$dir/got" >"$dir/log"
	ok $? "$n threads: what a thread has not begun is taken by others"
done
cpu=$(taskset -pc $$ | sed 's/.*: *\([0-9]*\).*/\1/')
OMP_NUM_THREADS=3 LD_PRELOAD=$lib "$limit" 120 taskset -c "$cpu" "$dir/held" \
	>"$dir/got" 2>"$dir/log" && diff "$dir/want" "$dir/got" >"$dir/log"
ok $? '3 threads on one CPU'

echo "1..$nr"
exit $failed
