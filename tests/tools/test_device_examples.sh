#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# streaming_node and the engine of Documentation/examples on emulated devices and
# on a driver of OpenCL: programs in C++, with the emulated device in C beside
# them.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
examples=Documentation/examples
include="-I. -I$examples -I$examples/engine"

# The device is compiled as C, so the program takes it as an object.
emu=$dir/emu_device.o
# shellcheck disable=SC2086
"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -Wall -Wextra -Werror -O2 ${CFLAGS:-} -I. \
	-Ilib/include -c -o "$emu" tests/tools/emu_device.c >"$dir/log" 2>&1
ok $? "the emulated device compiles without a warning"

# on_opencl FACT: as run(), where there is a driver with a device
on_opencl() {
	fact=$1
	POCL_CACHE_DIR=$build/pocl.cache POCL_MAX_PTHREAD_COUNT=2 \
		POCL_DEVICES="pthread basic" "$limit" 120 \
		"$dir/program" opencl >"$dir/got" 2>&1
	rc=$?
	if grep -q SKIP "$dir/got"; then
		skip "$fact" "$(cat "$dir/got")"
		return
	fi
	diff "$dir/want" "$dir/got" >"$dir/log" && [ "$rc" -eq 0 ]
	ok $? "$fact" "$dir/log"
}

for name in streaming streaming_faults engine_devices; do
	wanted tests/tools/$name.cc >"$dir/want"
	[ -s "$dir/want" ]
	ok $? "$name.cc says what it prints" tests/tools/$name.cc
	CFLAGS="${CFLAGS:-} $include" compile tests/tools/$name.cc "$emu"
	ok $? "$name.cc compiles without a warning"
	[ -x "$dir/program" ] || continue
	run "$name prints that" LKDF_TRACE=
	run "$name prints that with one worker" LKDF_WORKERS=1
	# On one thread there are no threads of devices to count.
	[ $name = engine_devices ] ||
		run "$name prints that on one thread" LKDF_SERIAL=yes
	# It has no device of its own.
	[ $name = streaming_faults ] ||
		on_opencl "$name prints that on OpenCL's devices"
done

if command -v clang++ >/dev/null; then
	CXX=clang++ CFLAGS="${CFLAGS:-} $include" compile tests/tools/streaming.cc \
		"$emu"
	ok $? "streaming.cc compiles with clang++, too"
else
	skip "streaming.cc compiles with clang++, too" "no clang++"
fi
wanted $examples/cpp/kernel.cc >"$dir/want"
compile $examples/cpp/kernel.cc
ok $? "kernel.cc compiles without a warning"
run "kernel.cc prints that on OpenCL's devices, or a CPU" LKDF_DEVICES=opencl \
	POCL_CACHE_DIR="$build/pocl.cache" POCL_MAX_PTHREAD_COUNT=2 \
	POCL_DEVICES="pthread basic"
echo "1..$nr"
[ "$failed" -eq 0 ]
