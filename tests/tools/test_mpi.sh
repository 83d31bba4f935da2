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
make -s BUILD="$build" "$build/tests/mpi/ranks" "$build/examples/halo" \
	>"$dir/log" 2>&1
ok $? 'the library, its test and its example are built'

# ranks NUMBER MODE: to $dir/out and $dir/log; its status
ranks() {
	timeout 120 mpirun -n "$1" "$build/tests/mpi/ranks" "$2" \
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
	ok $? "$1 ranks ${2:-multiple} end well"
}

for n in 1 2 4; do
	facts $n ''
done
for n in 1 2 4; do
	timeout 120 mpirun -n $n "$build/examples/halo" 128 20 >"$dir/out" \
		2>"$dir/log" && grep -q ': as one process has it' "$dir/out"
	ok $? "halo: $n ranks compute what one process does"
done
facts 2 serialized
facts 2 single
grep -q 'lkdf: mpi: MPI was initialised for one thread: call MPI_Init_thread' \
	"$dir/log"
ok $? 'and what to do is said'
ranks 2 serialized
grep -q 'lkdf: mpi: rank 0 has workers on CPU .*lkdf_mpi_options' "$dir/log"
ok $? 'two ranks on the same CPUs are told'
ranks 2 kill
rc=$?
[ $rc -ne 0 ] && [ $rc -ne 124 ]
ok $? 'a rank that is killed ends the others'

echo "1..$nr"
exit $failed
