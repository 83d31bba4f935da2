#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Programs of OpenMP, compiled by gcc for libgomp, with liblkdf-gomp before it:
# what they print is what libgomp prints, at -O0 and -O2, with 1 to 16 threads.
# GOMP_SEEDS=N: so many random programs, from GOMP_FIRST on. GOMP_TSAN=1, with a
# library of ThreadSanitizer: it finds no race in it under these programs.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
unset OMP_NUM_THREADS OMP_SCHEDULE OMP_PROC_BIND OMP_PLACES OMP_WAIT_POLICY
lib=$(cd "$build" && pwd)/liblkdf-gomp.so
first=${GOMP_FIRST:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}

cat >"$dir/try.c" <<'END'
int main(void) {
#pragma omp parallel
	{ }
	return 0; }
END
if ! gcc -fopenmp -o "$dir/try" "$dir/try.c" >"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi
libgomp=$(ldd "$dir/try" | sed -n 's/.*libgomp[^ ]* => \([^ ]*\).*/\1/p')
# A sanitizer has to be loaded before the library, and these programs have none.
preload=$lib
levels='0 2'
counts='1 2 3 16'
case $(ldd "$lib") in
*libtsan*)
	[ -n "${GOMP_TSAN-}" ] || {
		echo '1..0 # SKIP GOMP_TSAN=1 runs it under ThreadSanitizer'
		exit 0
	}
	preload="$(gcc -print-file-name=libtsan.so) $lib"
	levels=2
	counts=3
	;;
*libasan* | *libubsan*)
	echo '1..0 # SKIP a sanitizer has to be loaded before the library'
	exit 0
	;;
esac

# with N FILE COMMAND...: standard output of the command, with n threads
with() {
	n=$1
	out=$2
	shift 2
	OMP_NUM_THREADS=$n LD_PRELOAD=$preload "$limit" 120 "$@" >"$out" \
		2>"$dir/log"
}

# ---- versions --------------------------------------------------------------

versions() {
	nm -D --defined-only --with-symbol-versions "$1" |
		sed -n 's/^[0-9a-f]* [Ti] \([A-Za-z].*@.*\)/\1/p' | sort
}
versions "$libgomp" >"$dir/theirs"
versions "$lib" >"$dir/ours"
# An older libgomp lacks calls that programs of newer compilers make.
sed 's/@.*//' "$dir/theirs" | sort -u >"$dir/names"
comm -13 "$dir/theirs" "$dir/ours" | while read -r call; do
	! grep -qx "${call%%@*}" "$dir/names" || echo "$call"
done >"$dir/log"
[ ! -s "$dir/log" ] && [ "$(wc -l <"$dir/ours")" -gt 200 ]
ok $? 'each call has the version that it has in libgomp'
# A call that divides the work of a team would give wrong results there.
comm -23 "$dir/theirs" "$dir/ours" | grep '^GOMP_' |
	grep -vE '^GOMP_(PLUGIN|OFFLOAD|offload|target|error|warning|alloc|free|add_alloc|is_alloc)' \
		>"$dir/log"
[ ! -s "$dir/log" ]
ok $? 'no call that belongs to a team is left to libgomp'

# A pattern for each of them, and none for a call of ours.
sed -n 's/^\(omp_[^ ]*\).*/^\1(_|_8_)?$/p' tests/gomp/theirs.txt \
	>"$dir/patterns"
sed 's/@.*//' "$dir/ours" | sort -u >"$dir/own"
{
	comm -23 "$dir/names" "$dir/own" | grep '^omp_' |
		grep -Evf "$dir/patterns"
	grep -Ef "$dir/patterns" "$dir/own"
} >"$dir/log"
[ -s "$dir/patterns" ] && [ ! -s "$dir/log" ]
ok $? 'a call of programs that is left to libgomp has its reason in theirs.txt'

# ---- programs --------------------------------------------------------------

# compile LEVEL NAME PROGRAM: of C, or with its suffix of another language
compile() {
	case $2 in
	*.f90) gfortran "$1" -fopenmp -o "$3" "tests/gomp/$2" ;;
	*) gcc "$1" -fopenmp -o "$3" "tests/gomp/$2.c" ;;
	esac >"$dir/log" 2>&1
}
for name in loops regions levels tasks reductions doacross detach teams calls \
	strict cancel icv \
	icv.f90 locks.f90; do
	if [ "${name%.f90}" != "$name" ] &&
		! command -v gfortran >"$dir/log"; then
		skip "$name" 'no gfortran'
		continue
	fi
	for level in $levels; do
		program=$dir/$name$level
		compile "-O$level" "$name" "$program" || {
			ok 1 "$name is compiled"
			continue
		}
		for n in $counts; do
			OMP_NUM_THREADS=$n "$limit" 120 "$program" \
				>"$dir/want" &&
				with "$n" "$dir/got" "$program" &&
				diff "$dir/want" "$dir/got" >"$dir/log"
			ok $? "$name, -O$level, $n threads"
		done
	done
done
seed=$first
last=$((first + ${GOMP_SEEDS:-6}))
while [ "$seed" -lt "$last" ]; do
	python3 tests/gomp/program.py "$seed" >"$dir/random.c" &&
		gcc -O$((seed % 3)) -fopenmp -o "$dir/random" "$dir/random.c" &&
		OMP_NUM_THREADS=3 "$limit" 120 "$dir/random" \
			>"$dir/want" &&
		with 3 "$dir/got" "$dir/random" &&
		diff "$dir/want" "$dir/got" >"$dir/log"
	ok $? "the random program of seed $seed"
	seed=$((seed + 1))
done

# A child that is forked begins no thread under ThreadSanitizer, nor does a tool
# without it load the library.
if [ "$preload" != "$lib" ]; then
	echo "1..$nr"
	exit $failed
fi
with 2 "$dir/got" "$dir/regions2" fork && grep -qx 'forked: 3' "$dir/got"
ok $? 'a forked child has regions of its own'
with 2 "$dir/got" "$dir/calls2"
grep -q 'regions have one thread: the program is compiled' "$dir/log"
ok $? 'a program of an old compiler is told of'
with 2 "$dir/got" "$dir/reductions2" outside &&
	grep -qx 'outside: 1375' "$dir/got"
ok $? 'a group of tasks outside of all regions reduces, too'

compile -O2 cancel "$dir/cancel"
for n in 1 3; do
	OMP_NUM_THREADS=$n "$limit" 120 "$dir/cancel" off >"$dir/want" &&
		with "$n" "$dir/got" "$dir/cancel" off &&
		diff "$dir/want" "$dir/got" >"$dir/log"
	ok $? "nothing is cancelled without OMP_CANCELLATION, $n threads"
done
with 3 "$dir/got" "$dir/cancel" copies && grep -qx 'copies: 0 wrong' "$dir/got"
ok $? 'a region that is cancelled beside a copy of a block ends'

# ---- words -----------------------------------------------------------------

cat >"$dir/asks.c" <<'END'
#include <omp.h>
#include <stdio.h>
int main(void) {
	omp_sched_t kind;
	int chunk, nr = 0;
	omp_get_schedule(&kind, &chunk);
#pragma omp parallel reduction(+ : nr)
	nr++;
	printf("%d %d %d %d %d\n", omp_get_max_threads(), nr, (int)kind, chunk,
	       omp_get_max_active_levels());
	return 0; }
END
gcc -fopenmp -o "$dir/asks" "$dir/asks.c" >"$dir/log" 2>&1
# says WANT VARIABLE...: what the program prints with these
says() {
	want=$1
	shift
	env "$@" LD_PRELOAD="$lib" "$dir/asks" >"$dir/got" 2>"$dir/log"
	[ "$(cat "$dir/got")" = "$want" ]
}
says '3 3 2 1 1' OMP_NUM_THREADS=3 && [ ! -s "$dir/log" ]
ok $? 'OMP_NUM_THREADS'
says '4 4 3 7 2' OMP_NUM_THREADS=4,2 OMP_SCHEDULE='guided, 7' \
	OMP_MAX_ACTIVE_LEVELS=2
ok $? 'OMP_SCHEDULE and OMP_MAX_ACTIVE_LEVELS'
says '2 2 1 0 1' OMP_NUM_THREADS=5 OMP_THREAD_LIMIT=2 OMP_SCHEDULE=static
ok $? 'OMP_THREAD_LIMIT'
says '2 2 2 1 1' OMP_NUM_THREADS=2 OMP_SCHEDULE=often OMP_STACKSIZE=much &&
	grep -q 'OMP_SCHEDULE=often is not understood' "$dir/log" &&
	grep -q 'OMP_STACKSIZE=much is not understood' "$dir/log"
ok $? 'what is not understood is named'
says '2 2 2 1 1' OMP_NUM_THREADS=2 OMP_WAIT_POLICY=passive OMP_STACKSIZE=2M \
	OMP_PROC_BIND=false OMP_DISPLAY_ENV=true &&
	grep -q 'spin_us=0' "$dir/log" && grep -q 'stack_kib=2048' "$dir/log" &&
	grep -q 'pin=no' "$dir/log"
ok $? 'OMP_DISPLAY_ENV shows what lkdf makes of the others'
says '2 2 2 1 1' LKDF_WORKERS=2 OMP_PLACES='{0}' && [ ! -s "$dir/log" ]
ok $? 'LKDF_* are followed as well'

cat >"$dir/shows.c" <<'END'
int main(void)
{
	int i;
	for (i = 0; i < 4; i++) {
#pragma omp parallel num_threads(2 + i / 2)
		{
#pragma omp parallel num_threads(2)
			{ }
		}
	}
	return 0;
}
END
gcc -fopenmp -o "$dir/shows" "$dir/shows.c" >"$dir/log" 2>&1
# How often a thread has a line: libgomp sometimes has an inner one for an outer.
cat >"$dir/want" <<'END'
1 level 1: 0 of 2 in 0
1 level 1: 0 of 3 in 0
1 level 1: 1 of 2 in 0
1 level 1: 1 of 3 in 0
1 level 1: 2 of 3 in 0
4 level 2: 0 of 2 in 0
4 level 2: 0 of 2 in 1
2 level 2: 0 of 2 in 2
4 level 2: 1 of 2 in 0
4 level 2: 1 of 2 in 1
2 level 2: 1 of 2 in 2
END
env OMP_DISPLAY_AFFINITY=true OMP_MAX_ACTIVE_LEVELS=2 \
	OMP_AFFINITY_FORMAT='level %L: %n of %N in %a' LD_PRELOAD="$lib" \
	"$dir/shows" 2>&1 | sort | uniq -c | sed 's/^ *//' >"$dir/got"
diff "$dir/want" "$dir/got" >"$dir/log"
ok $? 'OMP_DISPLAY_AFFINITY'

# ---- by the tool -----------------------------------------------------------

OMP_NUM_THREADS=2 "$build/lkdf" run -q --openmp -- "$dir/asks" >"$dir/got" \
	2>"$dir/log" && [ "$(cat "$dir/got")" = '2 2 2 1 1' ]
ok $? 'lkdf run --openmp'
OMP_NUM_THREADS=2 "$build/lkdf" run -v --openmp -- "$dir/asks" >"$dir/got" \
	2>"$dir/log"
grep -q 'LD_PRELOAD=.*liblkdf-gomp.so' "$dir/log" &&
	grep -q '2 workers' "$dir/log"
ok $? 'and it sees the runtime of the program'

echo "1..$nr"
exit $failed
