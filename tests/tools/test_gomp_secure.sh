#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A program with the rights of somebody else (AT_SECURE) that is linked with
# liblkdf-gomp: its caller's variables of OpenMP and of lkdf are not followed.
# libgomp, which is loaded as well, says what it thinks of them.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/gomp.sh
. tests/tools/gomp.sh

cat >"$dir/asks.c" <<'END'
#include <omp.h>
#include <stdio.h>
#include <sys/auxv.h>
int main(void)
{
	omp_sched_t kind;
	int chunk, nr = 0;
	omp_get_schedule(&kind, &chunk);
#pragma omp parallel reduction(+ : nr)
	nr++;
	printf("%d %d %d %d %d\n", getauxval(AT_SECURE) != 0, nr == 37,
	       omp_get_max_active_levels(), (int)kind, chunk);
	return 0;
}
END
if ! gcc -fopenmp -o "$dir/asks" "$dir/asks.c" -Wl,--no-as-needed \
	-L"$build" -llkdf-gomp -llkdf -Wl,-rpath,"$build" \
	>"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi
skip_sanitizers

# with VARIABLE...: standard output and error of the program
with() {
	env "$@" "$limit" 60 "$dir/asks" >"$dir/got" 2>"$dir/log"
}
with OMP_NUM_THREADS=37 OMP_SCHEDULE=guided,7 OMP_MAX_ACTIVE_LEVELS=5 &&
	[ "$(cat "$dir/got")" = '0 1 5 3 7' ]
ok $? 'a program with the rights of its caller follows them'

# With another group as its own the program is such a one, of any user who is in
# two groups.
other=$(id -G | tr ' ' '\n' | grep -vx "$(id -g)" | head -n 1)
[ "$(id -u)" -ne 0 ] || other=${other:-65534}
if [ -z "$other" ] || ! chgrp "$other" "$dir/asks" 2>"$dir/log" ||
	! chmod g+s "$dir/asks" || ! with A=1 ||
	! grep -q '^1' "$dir/got"; then
	skip 'with the rights of another group' 'this user has no other group'
	echo "1..$nr"
	exit $failed
fi
with A=1 && mv "$dir/got" "$dir/want"
with OMP_NUM_THREADS=37 OMP_SCHEDULE=guided,7 OMP_MAX_ACTIVE_LEVELS=5 \
	OMP_STACKSIZE=much OMP_PROC_BIND=often OMP_PLACES='{0}' \
	OMP_DISPLAY_ENV=true OMP_WAIT_POLICY=never OMP_DYNAMIC=true \
	OMP_THREAD_LIMIT=1 LKDF_WORKERS=37 &&
	diff "$dir/want" "$dir/got" >>"$dir/log" &&
	! grep '^liblkdf-gomp' "$dir/log"
ok $? 'with the rights of another group it does not'

echo "1..$nr"
exit $failed
