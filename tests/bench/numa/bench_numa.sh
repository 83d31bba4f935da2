#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Runs every program in every runtime ROUNDS times in one machine, prints the
# table and writes $BUILD/bench-numa.json. The counter proves itself first, in
# the same boot; without that nothing is said. RUNTIMES and PROGRAMS take some
# of them.
set -u
build=${BUILD:-build}
dir=$build/tests/bench/numa
set -- # what the machine gets
commands=
for r in ${RUNTIMES:-static lkdf-strict lkdf-free lkdf-data lkdf-stay \
	lkdf-still lkdf-blind tbb libgomp libomp}; do
	program=numa_$r
	case $r in
	lkdf-strict | lkdf-free) program=numa_lkdf ;;
	lkdf-data | lkdf-stay | lkdf-still | lkdf-blind) program=numa_data ;;
	esac
	file=$dir/$program
	if [ ! -x "$file" ]; then
		echo "$r is absent"
		continue
	fi
	case " $* " in
	*" $file "*) ;;
	*) set -- "$@" "$file" ;;
	esac
	for p in ${PROGRAMS:-stencil skewed tree wave chol reduce local}; do
		commands="${commands}PLACES=${r#lkdf-} ./$program $p || rc=1
"
	done
done
VM_TIMEOUT=${VM_TIMEOUT:-3600} tests/vm/plugin/counted.sh bench-numa \
	"export OMP_PLACES=cores OMP_PROC_BIND=spread
rc=0
for i in \$(seq ${ROUNDS:-3}); do
$commands
done
[ \$rc = 0 ]" "$@" || exit 1
report=$build/vm/bench-numa/report
proof=$build/vm/bench-numa/proof
if ! "$build/tests/vm/plugin/judge" "$report" 4 8 >"$proof"; then
	grep -A 2 '^not ok' "$proof"
	echo "the access counter is not exact in this machine"
	exit 1
fi
echo "access counter: $(grep -c '^ok' "$proof") checks passed in this machine"
"$dir/bench_numa" "$report" --out "$build/bench-numa.json"
