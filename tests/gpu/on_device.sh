#!/bin/bash
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# All that a machine with a card is to tell, in one command:
#   ./on_device.sh OUT [PART...]     in the folder that pack.sh has made
# It prints one table, and OUT has it and seven files with what was printed. On a
# machine without a card the library for tests is the driver: the column "card"
# says so. PARTs are card, conformance, cuda, opencl, bench, faults, memcheck;
# LKDF_GPU_TESTS is a part of the names of the tests to run, LKDF_GPU_BENCHES how
# often the bench runs.
set -u
cd "$(dirname "$0")" || exit 1
[ $# -ge 1 ] || {
	echo "usage: on_device.sh OUT [PART...]" >&2
	exit 2
}
mkdir -p "$1" || exit 1
out=$(cd "$1" && pwd)
shift
parts=${*:-card conformance cuda opencl bench faults memcheck}
libs=$PWD/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
only=${LKDF_GPU_TESTS:-}
failed=0

# ours COMMAND...: with the libraries of this folder
ours() {
	LD_LIBRARY_PATH=$libs timeout -k 5 "${limit:-60}" "$@"
}

# row NAME RESULT
row() {
	printf '%-22s %-22s %s\n' "$1" "$card" "$2" | tee -a "$out/table.txt"
}

bad() {
	failed=1
}

# The programs of one folder of tests, or those that are named.
tests_of() {
	find "build/tests/api/$1" -type f -name "test_*$only*" | sort
}

# count FILE: what its TAP lines say; 1: some are not ok, a program died, or none
# was there
count() {
	ok=$(grep -c '^ok' "$1")
	texts=$(grep -c '^#### .* needs a text' "$1")
	not=$(grep -c '^not ok' "$1")
	skipped=$(grep -c '^ok.*# SKIP' "$1")
	died=$(grep -c '^#### .* ended with [1-9]' "$1")
	programs=$(grep -c '^#### .* ended' "$1")
	no_text=
	[ "$texts" = 0 ] || no_text=", $texts skipped: no NVRTC"
	echo "$((ok - skipped)) facts, $not not ok, $skipped skipped, of" \
		"$programs programs $died ended badly$no_text"
	[ "$not$died" = 00 ] && [ "$programs" != 0 ]
}

# run_tests FILE PROGRAM...
run_tests() {
	to=$1
	shift
	: >"$to"
	for t; do
		case $t in
		*/oracle) set -- --devices 2 --seconds 10 ;;
		*) set -- ;;
		esac
		ours "$t" "$@" >"$to.one" 2>&1
		rc=$?
		if grep -q 'needs NVRTC of the CUDA' "$to.one"; then
			echo "#### ${t##*/} needs a text: skipped, no NVRTC" >>"$to"
			continue
		fi
		cat "$to.one" >>"$to"
		echo "#### ${t##*/} ended with $rc" >>"$to"
	done
	rm -f "$to.one"
}

name=$(nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null |
	head -n 1)
if [ -n "$name" ]; then
	card=${name// /_}
	patience=60
	export LKDF_TEST_CUDA=libcuda.so.1
	export LKDF_KERNEL_CACHE=$PWD/kernels
else
	card='none (test library)'
	unset LKDF_TEST_CUDA
	export LKDF_CUDA_LIBRARY=$PWD/build/tests/cuda/libcuda.so.1
	export LKDF_NVRTC_LIBRARY=$PWD/build/tests/cuda/libnvrtc.so
	export LKDF_KERNEL_CACHE=$PWD/kernels.test
	patience=200 # these CPUs run the kernels, beside other work
fi
: >"$out/table.txt"
printf '%-22s %-22s %s\n' part card result | tee -a "$out/table.txt"

card_part() {
	{
		uname -srm
		getconf GNU_LIBC_VERSION
		nvidia-smi 2>&1
		ours build/lkdf doctor 2>&1
		ours build/lkdf device -v 2>&1
	} >"$out/card.txt"
	driver=$(nvidia-smi --query-gpu=driver_version \
		--format=csv,noheader 2>/dev/null | head -n 1)
	row 'card and driver' \
		"driver ${driver:-none}, $(getconf GNU_LIBC_VERSION), $(nproc) CPUs"
	row 'kernels of sm_90' "$(tail -n 1 kernels/texts)"
}

# Another card, or another driver: a difference is news, no failure.
conformance_part() {
	limit=200
	jobs=1
	driver=libcuda.so.1
	[ -n "$name" ] || {
		jobs=6
		driver=build/tests/cuda/libcuda.so.1
	}
	ours build/tests/cuda/cuda-conformance -j "$jobs" \
		-s build/tests/cuda/libcuda_stub.so "$driver" 2>/dev/null |
		sed 's/ *$//' | LC_ALL=C sort >"$out/conformance.txt"
	grep -v '^#' tests/cuda/golden.txt | sed 's/ *$//' | LC_ALL=C sort |
		diff - "$out/conformance.txt" >"$out/differences"
	nr=$(grep -c '^>' "$out/differences")
	grep '^[<>]' "$out/differences" | sed 's/^/# /' >>"$out/conformance.txt"
	rm "$out/differences"
	lines=$(grep -vc '^#' "$out/conformance.txt")
	row conformance "$lines lines, $nr differ from the recorded ones"
	[ "$lines" -gt 0 ] || bad
}

cuda_part() {
	export LKDF_TEST_DEVICE=cuda LKDF_TEST_EMULATED=no
	limit=$patience
	# shellcheck disable=SC2046 # names of tests have no spaces
	run_tests "$out/cuda.txt" $(tests_of device | grep -v opencl)
	row 'tests, cuda' "$(count "$out/cuda.txt")"
	count "$out/cuda.txt" >/dev/null || bad
	run_tests "$out/oracle.txt" build/tests/oracle/devices/oracle
	row 'oracle, cuda' "$(count "$out/oracle.txt")"
	count "$out/oracle.txt" >/dev/null || bad
	cat "$out/oracle.txt" >>"$out/cuda.txt"
	rm "$out/oracle.txt"
	unset LKDF_TEST_DEVICE LKDF_TEST_EMULATED
}

# The card by NVIDIA's driver of OpenCL, found as the loader finds libraries.
opencl_part() {
	icd=$(ldconfig -p 2>/dev/null |
		sed -n 's/.*libnvidia-opencl\.so\.1 .* => //p' | head -n 1)
	[ -n "$icd" ] || {
		row 'tests, opencl' 'skipped: no libnvidia-opencl.so.1'
		return
	}
	vendors=$(mktemp -d)
	echo "$icd" >"$vendors/nvidia.icd"
	export LKDF_TEST_DEVICE=opencl LKDF_TEST_EMULATED=no \
		OCL_ICD_VENDORS=$vendors
	limit=30
	# shellcheck disable=SC2046 # names of tests have no spaces
	run_tests "$out/opencl.txt" $(tests_of device)
	row 'tests, opencl' "$(count "$out/opencl.txt")"
	rm -r "$vendors"
	unset LKDF_TEST_DEVICE LKDF_TEST_EMULATED OCL_ICD_VENDORS
}

# Twice: a figure that differs between both is none. Bars are no failure here.
bench_part() {
	: >"$out/bench.txt"
	limit=100
	quick=
	[ -n "$name" ] || quick=--quick
	for i in $(seq "${LKDF_GPU_BENCHES:-2}"); do
		# shellcheck disable=SC2086 # one word, or none
		ours build/lkdf bench device --device cuda $quick \
			>"$out/bench" 2>>"$out/bench.txt"
		rc=$?
		cat "$out/bench" >>"$out/bench.txt"
		echo "#### bench $i ended with $rc" >>"$out/bench.txt"
		row "bench device, $i" "$([ "$rc" -le 1 ] &&
			tail -n 1 "$out/bench" || echo "ended with $rc")"
		[ "$rc" -le 1 ] || bad
	done
	rm -f "$out/bench"
}

# Each program of them is a process of its own: a fault is for all of one. They
# name libraries themselves, which the environment would replace.
faults_part() {
	limit=$patience
	# shellcheck disable=SC2046 # names of tests have no spaces
	(
		unset LKDF_CUDA_LIBRARY LKDF_NVRTC_LIBRARY
		run_tests "$out/faults.txt" \
			$(tests_of cuda | grep -v conformance)
	)
	row faults "$(count "$out/faults.txt")"
	grep '^# replay: ' "$out/faults.txt" | while read -r _ _ figures; do
		row replay "$figures"
	done
	count "$out/faults.txt" >/dev/null || bad
}

memcheck_part() {
	if [ -z "$name" ] || ! command -v compute-sanitizer >/dev/null; then
		row memcheck 'skipped: no card, or no compute-sanitizer'
		return
	fi
	export LKDF_TEST_DEVICE=cuda LKDF_TEST_EMULATED=no
	limit=60
	: >"$out/memcheck.txt"
	for t in kernel kernel_fold kernel_loop; do
		ours compute-sanitizer --report-api-errors no \
			"build/tests/api/device/test_$t" 2>&1 |
			grep ===== >>"$out/memcheck.txt"
	done
	row memcheck "$(grep -c 'ERROR SUMMARY: 0 errors' \
		"$out/memcheck.txt") of 3 tests without an error"
	unset LKDF_TEST_DEVICE LKDF_TEST_EMULATED
}

for part in $parts; do
	case $part in
	card) card_part ;;
	conformance) conformance_part ;;
	cuda) cuda_part ;;
	opencl) opencl_part ;;
	bench) bench_part ;;
	faults) faults_part ;;
	memcheck) memcheck_part ;;
	*)
		echo "on_device.sh: no part $part" >&2
		exit 2
		;;
	esac
done
exit "$failed"
