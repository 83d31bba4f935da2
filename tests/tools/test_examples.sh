#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The larger examples: the compute engine in C and in C++, and Cholesky. Each
# compiles without a warning and checks its own result; here it is looked at
# with different sizes and numbers of workers, and that it refuses bad usage.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
examples=Documentation/examples

# try ARGUMENT...: what it prints is in $dir/got, its status is $rc
try() {
	"$limit" 60 "$dir/program" "$@" >"$dir/got" 2>&1
	rc=$?
}

# prints PATTERN FACT ARGUMENT...: a whole line of it, and status 0
prints() {
	pattern=$1 fact=$2
	shift 2
	try "$@"
	[ "$rc" -eq 0 ] && grep -qxE "$pattern" "$dir/got"
	ok $? "$fact" "$dir/got"
}

# usage_of NAME: help and refusal
usage_of() {
	prints "usage: $1 .*" "$1 --help prints help" --help
	for bad in --nonsense "--n$2 0" "--n$2 99999999999" "--n$2 1x" "--n$2"; do
		# shellcheck disable=SC2086
		try $bad
		[ "$rc" -eq 2 ]
		ok $? "$1 $bad: exit status 2" "$dir/got"
	done
}

compile $examples/engine/engine.c $examples/engine/device.c
ok $? "engine compiles without a warning"
if [ -x "$dir/program" ]; then
	right='[0-9]* pushes, [0-9]* on the device: sum [0-9]*, right'
	prints "82 pushes, 20 on the device: sum [0-9]*, right" \
		"engine pushes 82 functions, its sum is right"
	# y = 1, x = 0; y += 2x: 1; z = 0. x = 1: y = 3, z = 3. x = 2: y = 7
	prints '14 pushes, 3 on the device: sum 17, right' \
		"engine with one element: a sum done by hand" --nr 1 --rounds 3
	prints "$right" "engine with odd sizes" --nr 12345 --rounds 7
	export LKDF_WORKERS=1
	prints "$right" "engine with one worker" --nr 1000 --rounds 200
	export LKDF_WORKERS=4
	prints "$right" "engine with four" --nr 1000 --rounds 200
	unset LKDF_WORKERS
	usage_of engine r
fi

as_it_says $examples/engine/engine_demo.cc
as_it_says $examples/device/saxpy.c
export POCL_CACHE_DIR="$build/pocl.cache" POCL_MAX_PTHREAD_COUNT=2
as_it_says $examples/device/saxpy_loop.c
run "saxpy_loop prints that without an OpenCL library" \
	LKDF_OPENCL_LIBRARY=libno-such.so.1
if [ -e "$build/tests/cuda/libcuda.so.1" ]; then
	export LKDF_CUDA_LIBRARY="$build/tests/cuda/libcuda.so.1" \
		LKDF_NVRTC_LIBRARY="$build/tests/cuda/libnvrtc.so"
	run "saxpy_loop prints that on a card of CUDA" \
		LKDF_OPENCL_LIBRARY=libno-such.so.1
	FAKE_CUDA_FAIL=cuLaunchKernel=701 try
	[ "$rc" -ne 0 ] && grep -q 'cuLaunchKernel: CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES' "$dir/got"
	ok $? "it is the card: a launch that it refuses fails" "$dir/got"
	unset LKDF_CUDA_LIBRARY LKDF_NVRTC_LIBRARY
else
	skip "saxpy_loop prints that on a card of CUDA" "no fake-cuda"
fi
as_it_says $examples/device/pipeline.c
run "pipeline prints that without an OpenCL library" \
	LKDF_OPENCL_LIBRARY=libno-such.so.1

compile $examples/cholesky.c
ok $? "cholesky compiles without a warning"
if [ -x "$dir/program" ]; then
	right='residual [0-9.]+e-[0-9]+, right'
	# nt = 12 tiles in a row: nt (nt + 1) (nt + 2) / 6
	prints 'order 768, tiles of 64, 364 tasks, .*' \
		"cholesky submits 364 tasks for 12 by 12 tiles"
	grep -qxE "$right" "$dir/got"
	ok $? "its residual is right" "$dir/got"
	awk '/^residual/ { small = $2 + 0 < 1e-10 && $2 + 0 >= 0 }
		END { exit !small }' "$dir/got"
	ok $? "below 1e-10" "$dir/got"
	prints "$right" "one element" --n 1 --block 1
	prints "$right" "a tile larger than the matrix" --n 5 --block 8
	prints "$right" "a last tile that is not full" --n 200 --block 48
	prints "$right" "many small tiles" --n 120 --block 3
	export LKDF_WORKERS=1
	prints "$right" "one worker" --n 256 --block 32
	export LKDF_WORKERS=4
	prints "$right" "four workers" --n 256 --block 32
	unset LKDF_WORKERS
	try --n 256 --block 32 --indefinite
	[ "$rc" -eq 1 ] && grep -qxE "cholesky: .*row 0: A is not positive \
definite: 1 failed, 119 skipped" "$dir/got"
	ok $? "a matrix without a factor: why, and what was skipped" "$dir/got"
	# Recorded once: each run fills, factors and checks
	for workers in 1 4; do
		export LKDF_WORKERS=$workers
		try --n 200 --block 24 --replay 5
		[ "$rc" -eq 0 ] && [ "$(grep -cxE "$right" "$dir/got")" -eq 5 ]
		ok $? "replayed five times, $workers workers" "$dir/got"
		# nt = 9: nt (nt + 1) (nt + 2) / 6
		[ "$(grep -c ', 165 tasks,' "$dir/got")" -eq 5 ]
		ok $? "165 tasks each time" "$dir/got"
		unset LKDF_WORKERS
	done
	try --n 256 --block 32 --replay 3 --indefinite
	[ "$rc" -eq 1 ] && grep -qxE "cholesky: .*row 0: A is not positive \
definite: 1 failed, 119 skipped" "$dir/got"
	ok $? "replayed without a factor: it says the same" "$dir/got"
	for bad in '--replay 0' '--replay'; do
		# shellcheck disable=SC2086
		try $bad
		[ "$rc" -eq 2 ]
		ok $? "cholesky $bad: exit status 2" "$dir/got"
	done
	LKDF_OPENCL_LIBRARY=libno-such.so.1 try --device
	[ "$rc" -eq 1 ] && grep -q '^cholesky: no device: .*libno-such' \
		"$dir/got"
	ok $? "--device without a driver: why" "$dir/got"
	if [ -e "$build/tests/cuda/libcuda.so.1" ]; then
		export LKDF_CUDA_LIBRARY="$build/tests/cuda/libcuda.so.1" \
			LKDF_NVRTC_LIBRARY="$build/tests/cuda/libnvrtc.so"
		prints "$right" "tiles on a card of CUDA" \
			--device --n 128 --block 24
		grep -q '^50 kernels on .*, .* MiB there' "$dir/got"
		ok $? "50 of 56 tasks are kernels there" "$dir/got"
		unset LKDF_CUDA_LIBRARY LKDF_NVRTC_LIBRARY
	else
		skip "tiles on a card of CUDA" "no fake-cuda"
	fi
	if "$build/lkdf" device >/dev/null 2>&1; then
		# nt = 8: 8 potrf, and 112 kernels
		prints "$right" "tiles on a device, checked on the host" \
			--device --n 256 --block 32
		grep -q '^112 kernels on .*, .* MiB there, .* MiB back$' \
			"$dir/got"
		ok $? "112 of 120 tasks are kernels" "$dir/got"
		prints "$right" "a last tile that is not full, on a device" \
			--device --n 200 --block 48
		try --device --n 200 --block 24 --replay 3
		[ "$rc" -eq 0 ] && [ "$(grep -cxE "$right" "$dir/got")" -eq 3 ]
		ok $? "replayed three times on a device" "$dir/got"
	else
		for fact in "tiles on a device, checked on the host" \
			"112 of 120 tasks are kernels" \
			"a last tile that is not full, on a device" \
			"replayed three times on a device"; do
			skip "$fact" "no OpenCL device"
		done
	fi
	try --n 501 --block 1
	[ "$rc" -eq 2 ]
	ok $? "more tiles than a task has uses: exit status 2" "$dir/got"
	usage_of cholesky ''
fi

compile $examples/convoy.c
ok $? "convoy compiles without a warning"
if [ -x "$dir/program" ]; then
	prints 'usage: convoy .*' 'convoy --help prints help' --help
	for bad in '--lock none-such' '--kinds 3' '--kinds x' '--seconds 1x' \
		--seconds mutex; do
		# shellcheck disable=SC2086
		try $bad
		[ "$rc" -eq 2 ] && grep -qxF "convoy: $bad: not understood" \
			"$dir/got"
		ok $? "convoy $bad: exit status 2, and which it was" "$dir/got"
	done
	prints '[1-9][0-9]* trees, .* ms each' 'convoy with two kinds' \
		--lock mutex --kinds 2 --seconds 0.1
fi
for file in "$dir/none/a.paje" /dev/full; do
	HOOKS_PAJE=$file LKDF_HOOKS=$build/examples/hooks_paje.so \
		"$build/examples/hello" >"$dir/got" 2>&1 &&
		grep -q "^hooks: $file: " "$dir/got" &&
		grep -q '^world from worker' "$dir/got"
	ok $? "hooks_paje names $file, which it cannot write" "$dir/got"
done

if command -v python3 >/dev/null; then
	quotes Documentation/cholesky.rst $examples
else
	skip "cholesky.rst shows code of the program" "no python3"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
