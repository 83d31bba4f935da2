#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# liblkdf-mpi with 1, 2 and 4 ranks on this machine, over loopback and shared
# memory: requests as events and held tasks, functions in turn, errors, the
# division of CPUs; what is refused; a rank that is killed. tests/mpi/ranks.c.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS
# As many ranks as one likes, as any user, on CPUs of all.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1

if ! make -s BUILD="$build" config 2>"$dir/log" | grep -q '^MPI=1' ||
	! command -v mpirun >"$dir/log"; then
	echo '1..0 # SKIP no MPI: libopenmpi-dev and openmpi-bin'
	exit 0
fi
# built FOLDER PACKAGE: test and examples for the MPI of that pkg-config file
built() {
	make -s BUILD="$build" MPI_PKG="$2" "$1/tests/mpi/ranks" \
		"$1/examples/halo" "$1/examples/hand_out" >"$dir/log" 2>&1
	ok $? "the library, its test and its examples are built, $2"
}

# With which ranks are run, and what: the system's MPI at first.
at=$build
run=mpirun

# ranks NUMBER MODE...: to $dir/out and $dir/log; its status
ranks() {
	n=$1
	shift
	timeout 120 "$run" -n "$n" "$at/tests/mpi/ranks" "$@" \
		>"$dir/out" 2>"$dir/log"
}

# facts NUMBER MODE: those of all ranks
facts() {
	ranks "$1" "$2"
	rc=$?
	grep '^ok\|^not ok' "$dir/out" >"$dir/facts"
	while read -r line; do
		case $line in
		ok*) ok 0 "${line#* - }" ;;
		*) ok 1 "${line#* - }" ;;
		esac
	done <"$dir/facts"
	[ $rc -eq 0 ] && grep -q '^1\.\.' "$dir/out"
	ok $? "$1 ranks ${2:-multiple} end well, $run"
}

# example NUMBER FACT PROGRAM ARGUMENT...: it says that its result is right
example() {
	n=$1
	fact=$2
	name=$3
	shift 3
	timeout 120 "$run" -n "$n" "$at/examples/$name" "$@" >"$dir/out" \
		2>"$dir/log" && grep -q ': as [a-z ]* has it' "$dir/out"
	ok $? "$name: $n ranks $fact, $run"
}

# killed NUMBER WHO: while all others wait for that rank
killed() {
	ranks "$1" kill "$2"
	rc=$?
	[ $rc -ne 0 ] && [ $rc -ne 124 ]
	ok $? "rank $2 of $1 is killed, which ends the others, $run"
}

built "$build" mpi-c
for n in 1 2 4; do
	facts $n ''
done
for n in 1 2 4; do
	example $n 'compute what one process does' halo 128 20
done
example 4 'count what a sieve counts' hand_out 24
facts 2 serialized
facts 2 single
grep -q 'lkdf: mpi: MPI was initialised for one thread: call MPI_Init_thread' \
	"$dir/log"
ok $? 'and what to do is said'
ranks 2 serialized
grep -q 'lkdf: mpi: rank 0 has workers on CPU .*lkdf_mpi_options' "$dir/log"
ok $? 'two ranks on the same CPUs are told'
for n in 0 1 2; do
	killed 3 $n
done

# recorded: each rank has a file, and lkdf report reads them as one
recorded() {
	rm -f "$dir"/r.*.lkdf
	LKDF_TRACE=$dir/r.%r.lkdf ranks 3 record &&
		"$build/lkdf" report "$dir/r.0.lkdf" "$dir/r.1.lkdf" \
			"$dir/r.2.lkdf" >"$dir/out" 2>"$dir/log" &&
		grep -q 'rank 1 waits for rank 0: ' "$dir/out" &&
		grep -q 'rank 2 waits for rank 0: ' "$dir/out" &&
		tr '\n' ' ' <"$dir/out" | tr -s ' ' | grep -q \
			'rank 0 were in bodies for [0-9. ]* % of it, most of them long'
	ok $? "a report says which rank all others wait for, $run" "$dir/out"
}
recorded

if pkg-config --exists mpich && command -v mpirun.mpich >"$dir/log"; then
	at=$build/mpich
	run=mpirun.mpich
	built "$at" mpich
	facts 2 ''
	example 4 'compute what one process does' halo 128 20
	example 4 'count what a sieve counts' hand_out 24
	facts 2 single
	facts 2 serialized
	killed 3 0
	recorded
else
	skip 'the same with MPICH' 'no libmpich-dev'
fi

if [ "${ONCE-}" = all ]; then
	at=$build
	run=mpirun
	facts 16 ''
	example 16 'compute what one process does' halo 512 20
	example 16 'count what a sieve counts' hand_out 100
	killed 16 7
	facts 2 huge
else
	skip '16 ranks, and a message of 1 GiB' 'make check-long'
fi

echo "1..$nr"
exit $failed
