#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf doctor PROGRAM: which OpenMP it uses, and what --openmp makes of it.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
lkdf=$build/lkdf
export PYTHONDONTWRITEBYTECODE=1

echo 'int main(void) { return 0; }' >"$dir/none.c"
cat >"$dir/with.c" <<'END'
#include <omp.h>
int main(void) {
	double begin = omp_get_wtime();
	int n = 0;
#pragma omp parallel reduction(+ : n)
	n += omp_get_thread_num();
	return n + omp_get_wtime() < begin; }
END
if ! gcc -fopenmp -o "$dir/with" "$dir/with.c" >"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi

# told PROGRAM: what the tool says
told() {
	"$lkdf" doctor "$1" >"$dir/log" 2>&1
}

told "$dir/with" && grep -q "gcc's OpenMP (libgomp): used by with;" \
	"$dir/log" && grep -q "clang's OpenMP (libomp): used by none" "$dir/log"
ok $? 'a program of gcc is known'
grep -q 'takes \([0-9]*\) of \([0-9]*\) calls.*left to libgomp: omp_get_wtime$' \
	"$dir/log"
ok $? 'what is left to libgomp is named'
gcc -o "$dir/none" "$dir/none.c" && told "$dir/none" &&
	grep -q "^none  gcc's OpenMP (libgomp): used by none" "$dir/log" &&
	grep -q '^0 failures, 0 warnings' "$dir/log"
ok $? 'a program without OpenMP, too'

cat >"$dir/lib.c" <<'END'
int twice(int);
int twice(int n) {
	int sum = 0;
#pragma omp parallel num_threads(2) reduction(+ : sum)
	sum += n;
	return sum; }
END
cat >"$dir/uses.c" <<'END'
int twice(int);
int main(void) { return twice(2) != 4; }
END
gcc -fopenmp -shared -fPIC -o "$dir/libtwice.so" "$dir/lib.c" &&
	gcc -o "$dir/uses" "$dir/uses.c" -L"$dir" -ltwice \
		-Wl,-rpath,"$dir" && told "$dir/uses" &&
	grep -q 'libgomp): used by libtwice.so; 3 files\|used by libtwice.so;' \
		"$dir/log"
ok $? 'a library of it that has OpenMP is named'
(PATH=$dir:$PATH && told uses && grep -q 'libtwice.so' "$dir/log")
ok $? 'programs are found as a shell finds them'

cat >"$dir/old.c" <<'END'
void GOMP_parallel_start(void (*)(void *), void *, unsigned);
void GOMP_parallel_end(void);
static void body(void *u) { (void)u; }
int main(void) {
	GOMP_parallel_start(body, 0, 2);
	body(0);
	GOMP_parallel_end();
	return 0; }
END
gcc -fopenmp -o "$dir/old" "$dir/old.c" && told "$dir/old" &&
	grep -q 'before 4.9 have one thread.*: GOMP_parallel_start (old)$' \
		"$dir/log" && grep -q '^0 failures, 1 warning' "$dir/log"
ok $? 'regions of old compilers are named, with who has them'

if gcc -static -fopenmp -o "$dir/still" "$dir/with.c" >"$dir/log" 2>&1; then
	told "$dir/still" && grep -q 'still is linked statically' "$dir/log"
	ok $? 'a static program cannot be preloaded'
else
	skip 'a static program' 'no static libc or libgomp'
fi
archive=$(gcc -print-file-name=libgomp.a)
if [ -f "$archive" ] && gcc -c -fopenmp -o "$dir/with.o" "$dir/with.c" &&
	gcc -o "$dir/part" "$dir/with.o" "$archive" -lpthread -ldl \
		>"$dir/log" 2>&1; then
	told "$dir/part" && grep -q 'libgomp.a is part of part,' "$dir/log"
	ok $? 'libgomp.a within a program is told'
else
	skip 'libgomp.a within a program' 'there is none'
fi
if clang -fopenmp -o "$dir/kmp" "$dir/with.c" >"$dir/log" 2>&1; then
	told "$dir/kmp" && grep -q "libomp): used by kmp" "$dir/log" &&
		grep -q "libgomp): used by none" "$dir/log"
	ok $? 'a program of clang is left alone'
	clang -fopenmp -DBOTH -o "$dir/both" "$dir/with.c" -L"$dir" \
		-Wl,--no-as-needed -ltwice -Wl,-rpath,"$dir" \
		>"$dir/log" 2>&1 && told "$dir/both" &&
		grep -q "libomp): used by both" "$dir/log" &&
		grep -q "libgomp): used by libtwice.so" "$dir/log"
	ok $? 'both in one program are told apart'
else
	skip 'a program of clang' 'no clang with libomp'
fi

"$lkdf" doctor --json "$dir/with" >"$dir/json" 2>"$dir/log" &&
	grep -q '"name": "preload"' "$dir/json" &&
	python3 tests/tools/schema.py Documentation/schema/doctor.json \
		"$dir/json" >"$dir/log" 2>&1
ok $? 'as JSON'
"$lkdf" doctor "$dir/with.c" >"$dir/log" 2>&1
[ $? -eq 4 ] && grep -q 'no 64-bit ELF program' "$dir/log"
ok $? 'a file that is no program is refused'
"$lkdf" doctor "$dir/nowhere" >"$dir/log" 2>&1
[ $? -eq 4 ] && grep -q 'No such file' "$dir/log"
ok $? 'and so is one that is not there'

echo "1..$nr"
exit $failed
