#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What tools show of programs of OpenMP that liblkdf-gomp runs.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/gomp.sh
. tests/tools/gomp.sh
lkdf=$build/lkdf

echo 'int main(void) { return 0; }' >"$dir/try.c"
if ! gcc -fopenmp -o "$dir/try" "$dir/try.c" >"$dir/log" 2>&1; then
	echo '1..0 # SKIP no gcc with libgomp'
	exit 0
fi
skip_sanitizers

# recorded PROGRAM...: with two threads; the report is $dir/report.json
recorded() {
	rm -f "$dir/of.lkdf"
	OMP_NUM_THREADS=2 LKDF_TRACE=$dir/of.lkdf "$limit" 120 "$lkdf" run -q \
		--openmp -- "$@" >"$dir/got" 2>"$dir/log" &&
		"$lkdf" report --json "$dir/of.lkdf" >"$dir/report.json" \
			2>"$dir/log"
}

# names NAME...: the report has these
names() {
	for name; do
		grep -qF "\"name\": \"$name\"" "$dir/report.json" || {
			grep '"name"' "$dir/report.json" >"$dir/log"
			echo "no $name" >>"$dir/log"
			return 1
		}
	done
}

# has_loop TEXT: it has the loop behind that comment, by one of its three lines
has_loop() {
	line=$(grep -n "/\* $1 \*/" tests/gomp/named.c | cut -d: -f1)
	for i in 0 1 2; do
		names "halve, line $((line + i)), region 1" && return
	done
	return 1
}

for how in '-O0 -gdwarf-2' '-O2 -gdwarf-4' '-O2 -gdwarf-5'; do
	# shellcheck disable=SC2086 # several options
	gcc $how -fopenmp -o "$dir/named" tests/gomp/named.c >"$dir/log" 2>&1 &&
		recorded "$dir/named" && names 'fill, region 1' \
		'halve, region 1' 'main, region 1' 'grow, task 1'
	ok $? "$how: regions and tasks are named by their functions"
	has_loop "the first loop" && has_loop "the second loop"
	ok $? "$how: loops by their lines, too"
	! grep -q 'seat' "$dir/report.json"
	ok $? "$how: worker 0 is in no body between regions"
done

gcc -O2 -fopenmp -o "$dir/named" tests/gomp/named.c >"$dir/log" 2>&1 &&
	recorded "$dir/named" && names 'halve, region 1' &&
	grep -q '"halve, loop at 0x[0-9a-f]*, region 1"' "$dir/report.json"
ok $? 'without lines loops are told apart'
strip "$dir/named" && recorded "$dir/named" &&
	grep -q '"named+0x[0-9a-f]*, region"' "$dir/report.json" &&
	grep -q '"named+0x[0-9a-f]*, loop at\|, loop"' "$dir/report.json"
ok $? 'without symbols regions have the address of their functions'

cat >"$dir/cpp.cc" <<'END'
#include <iostream>
#include <vector>
namespace ns {
template <typename T> struct Sums {
	T operator()(std::vector<T> &v) const {
		T sum = 0;
#pragma omp parallel for reduction(+ : sum)
		for (unsigned i = 0; i < v.size(); i++)
			sum += v[i];
		return sum; }
};
}
namespace {
void twice(std::vector<long> &v) {
#pragma omp parallel
	{
#pragma omp for schedule(dynamic, 3)
	for (unsigned i = 0; i < v.size(); i++)
		v[i] *= 2;
	} }
}
int main() {
	std::vector<long> v(1000, 1);
	twice(v);
	std::cout << ns::Sums<long>()(v) << std::endl;
	return 0; }
END
if g++ -O1 -g -fopenmp -o "$dir/cpp" "$dir/cpp.cc" >"$dir/log" 2>&1; then
	recorded "$dir/cpp" && [ "$(cat "$dir/got")" = 2000 ] &&
		names '(anonymous namespace)::twice, region 1' \
			'ns::Sums<long>::operator(), region 1'
	ok $? 'names of C++ are as the source has them'
else
	skip 'names of C++' 'no g++'
fi

# ---- findings --------------------------------------------------------------

cat >"$dir/small.c" <<'END'
int main(int argc, char **argv) {
	int is_fixed = argc > 1 && argv[1];
	for (int i = 0; i < 5000; i++) {
#pragma omp parallel if (!is_fixed)
		{ __asm__ volatile(""); }
	}
#pragma omp parallel
	for (int i = 0; i < 20 * 1000 * 1000; i++)
		__asm__ volatile("");
	return 0; }
END
# found ID: the report has that finding
found() {
	grep -q "\"id\": \"$1\"," "$dir/report.json"
}
gcc -O2 -fopenmp -o "$dir/small" "$dir/small.c" >"$dir/log" 2>&1 &&
	recorded "$dir/small" && found region &&
	grep -q '"main, region 1 is too small: .* for 2 threads"' \
		"$dir/report.json"
ok $? 'regions of no work are found, with their name'
recorded "$dir/small" 1 && ! found region
ok $? 'and are not with an if clause'

# ---- lkdf try, regions of a report ------------------------------------------

gcc -O1 -fopenmp -o "$dir/named" tests/gomp/named.c >"$dir/log" 2>&1
env -u LKDF_WORKERS "$limit" 240 "$lkdf" try -q --openmp -w 1,2 --json -- \
	"$dir/named" >"$dir/try.json" 2>"$dir/log" &&
	python3 - "$dir/try.json" >>"$dir/log" 2>&1 <<'END'
import json
import sys
one, two = json.load(open(sys.argv[1]))['runs']
assert one['kinds'] == [] and one['elapsed_ns'] > 0, one
assert 'fill, region 1' in [k['name'] for k in two['kinds']], two
END
ok $? 'lkdf try: regions of two threads, and how long both commands took'
env -u LKDF_WORKERS "$limit" 240 "$lkdf" try -q --openmp -w 2 -n 1 \
	--fix workers=1 -- "$dir/named" >"$dir/log" 2>&1 &&
	grep -q '^workers=1  ' "$dir/log" && ! grep -q '^workers=1 .* 0 ns' \
		"$dir/log"
ok $? 'another number of threads is timed though nothing of it is recorded'
recorded "$dir/named" && python3 - "$dir/report.json" >>"$dir/log" 2>&1 <<'END'
import json
import sys
teams = json.load(open(sys.argv[1]))['teams']
assert 'fill, region 1' in [t['name'] for t in teams], teams
assert all(t['threads'] == 2 and t['bodies'] == 2 * t['runs'] and
           t['wall'] > 0 for t in teams), teams
END
ok $? 'a report has a table of regions'

# ---- option stall ----------------------------------------------------------

cat >"$dir/pause.c" <<'END'
#include <unistd.h>
int main(void) {
	for (int i = 0; i < 2; i++) {
#pragma omp parallel num_threads(2)
		__asm__ volatile("");
		usleep(1700 * 1000);
	}
	return 0; }
END
gcc -O2 -fopenmp -o "$dir/pause" "$dir/pause.c" >"$dir/log" 2>&1 &&
	LKDF_STALL=1 LD_PRELOAD=$build/liblkdf-gomp.so "$dir/pause" \
		2>"$dir/log" && [ ! -s "$dir/log" ]
ok $? 'a program that does other work between regions stands not still'

echo "1..$nr"
exit $failed
