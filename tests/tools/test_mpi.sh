#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# liblkdf-mpi with 1, 2 and 4 ranks on this machine, over loopback and shared
# memory: requests as events and held tasks, functions in turn, errors, the
# division of CPUs; what is refused; a rank that is killed. tests/mpi/ranks.c.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS
# Names of targets are below $BUILD as it was given.
given=${BUILD:-build}
# As many ranks as one likes, as any user, on CPUs of all.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl=self,vader OMPI_MCA_pml=ob1

# What a sanitizer finds in MPI itself is left out. MPI has no frame pointers, by
# which stacks of allocations are walked else.
export ASAN_OPTIONS=fast_unwind_on_malloc=0
export LSAN_OPTIONS="suppressions=$PWD/tests/mpi/lsan.supp:print_suppressions=0"
export TSAN_OPTIONS="suppressions=$PWD/tests/mpi/tsan.supp:print_suppressions=0"

if ! make -s BUILD="$given" config 2>"$dir/log" | grep -q '^MPI=1' ||
	! command -v mpirun >"$dir/log"; then
	echo '1..0 # SKIP no MPI: libopenmpi-dev and openmpi-bin'
	exit 0
fi
# built FOLDER PACKAGE: test and examples for the MPI of that pkg-config file
built() {
	make -s BUILD="$given" MPI_PKG="$2" "$1/tests/mpi/ranks" \
		"$1/examples/halo" "$1/examples/hand_out" >"$dir/log" 2>&1
	ok $? "the library, its test and its examples are built, $2"
}

# With which ranks are run, and what: the system's MPI at first.
at=$given
run=mpirun

# ranks NUMBER MODE...: to $dir/out and $dir/log; its status
ranks() {
	n=$1
	shift
	"$limit" 120 "$run" -n "$n" "$at/tests/mpi/ranks" "$@" \
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
	"$limit" 120 "$run" -n "$n" "$at/examples/$name" "$@" >"$dir/out" \
		2>"$dir/log" && grep -q ': as [a-z ]* has it' "$dir/out"
	ok $? "$name: $n ranks $fact, $run"
}

# refused NAME ARGUMENT...: exit status 2, and one usage of all ranks
refused() {
	"$limit" 120 "$run" -n 2 "$at/examples/$1" "$2" >"$dir/out" 2>"$dir/log"
	[ $? -eq 2 ] && [ "$(grep -c "^usage: $1 " "$dir/log")" = 1 ]
	ok $? "$1 $2 is refused, $run"
}

# left_alone OPTION NUMBER WHO WHEN: a rank is killed, and the launcher, as it is
# told by OPTION, leaves the others alone
left_alone() {
	"$limit" 60 "$run" "$1" -n "$2" \
		"$at/tests/mpi/ranks" kill "$3" "$4" >"$dir/out" 2>"$dir/log"
	[ $? -ne 124 ]
}

# killed NUMBER WHO WHEN: each other rank says so, and ends
killed() {
	left_alone --enable-recovery "$@" &&
		grep -q "rank $2 is gone" "$dir/log" &&
		for other in $(seq 0 $(($1 - 1))); do
			[ "$other" = "$2" ] ||
				grep -q "rank $other ends, too" "$dir/log" ||
				break
		done
	ok $? "rank $2 of $1 is killed ($3), which ends the others, $run"
}

# cleaned_up NUMBER WHO: the launcher itself ends the others
cleaned_up() {
	ranks "$1" kill "$2" wait
	rc=$?
	[ $rc -ne 0 ] && [ $rc -ne 124 ]
	ok $? "rank $2 of $1 is killed, and the launcher ends, too, $run"
}

built "$given" mpi-c
for n in 1 2 4; do
	facts $n ''
done
for n in 1 2 4; do
	example $n 'compute what one process does' halo 128 20
done
example 4 'count what a sieve counts' hand_out 24
refused halo 7
refused halo x
refused hand_out 0
refused hand_out 1x
for name in halo hand_out; do
	"$limit" 120 "$run" -n 2 "$at/examples/$name" --help >"$dir/log" 2>&1 &&
		[ "$(grep -c "^usage: $name " "$dir/log")" = 1 ]
	ok $? "$name --help, $run"
done
facts 2 serialized
for n in 1 2 4; do
	facts $n funneled
done
facts 2 single
grep -q 'lkdf: mpi: MPI was initialised for one thread: call MPI_Init_thread' \
	"$dir/log"
ok $? 'and what to do is said'
ranks 2 serialized
grep -q 'lkdf: mpi: rank 0 has workers on CPU .*lkdf_mpi_options' "$dir/log"
ok $? 'two ranks on the same CPUs are told'
for n in 0 1 2; do
	killed 3 $n wait
done
# While a handle is open: in the first runtime, the second and the last.
for n in 4 17 30 55 97; do
	killed 4 $((n % 4)) $n
done
killed 2 1 close
cleaned_up 3 1

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

if [ -n "${SAN-}" ]; then
	skip 'the same with MPICH' 'what sanitizers find in MPICH is not known'
elif pkg-config --exists mpich && command -v mpirun.mpich >"$dir/log"; then
	at=$given/mpich
	run=mpirun.mpich
	built "$at" mpich
	facts 2 ''
	example 4 'compute what one process does' halo 128 20
	example 4 'count what a sieve counts' hand_out 24
	facts 2 single
	facts 2 serialized
	facts 2 funneled
	# MPICH's own calls may fail before the library has seen it.
	left_alone -disable-auto-cleanup 4 2 wait
	ok $? "rank 2 of 4 is killed, and no other one hangs, $run"
	cleaned_up 3 0
	recorded
else
	skip 'the same with MPICH' 'no libmpich-dev'
fi

if [ "${ONCE-}" = all ]; then
	at=$given
	run=mpirun
	facts 16 ''
	example 16 'compute what one process does' halo 512 20
	example 16 'count what a sieve counts' hand_out 100
	killed 16 7 wait
	for n in $(seq 4 8 92); do
		killed 4 $((n / 4 % 4)) "$n"
	done
	facts 2 huge
else
	skip '16 ranks, and a message of 1 GiB' 'make check-long'
fi

echo "1..$nr"
exit $failed
