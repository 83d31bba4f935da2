#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A core of tests for arm64, cross built and run by qemu-user: TAP. What a test
# says of time, of CPUs and of the kernel is the emulator's: programs that need
# more than threads and memory are left out. arm64.sh TARGET... builds in $BUILD.
# Libraries lie where Debian's arm64 packages put them, or below $ARM64_ROOT,
# where such packages were unpacked.
set -u
build=${BUILD:-build/arm64}
root=${ARM64_ROOT:-}
triple=aarch64-linux-gnu
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)
nr=0
failed=0

fact() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
		tail -n 20 "$build/arm64.log" | sed 's/^/# /'
	fi
}

# absent WHAT PACKAGES
absent() {
	echo "1..0 # SKIP no $1: $2"
	exit 0
}

command -v $triple-gcc >/dev/null || absent "compiler for arm64" gcc-$triple
[ -n "$emulator" ] || absent "emulator of arm64" qemu-user
[ -e "$root/usr/lib/$triple/libhwloc.so" ] || absent "library for arm64" \
	'libhwloc-dev:arm64 libnuma-dev:arm64 liburing-dev:arm64, or ARM64_ROOT'
mkdir -p "$build"
flags="-O1 -g"
links=
if [ -n "$root" ]; then
	links="-L$root/usr/lib/$triple -Wl,-rpath-link,$root/usr/lib/$triple"
	flags="$flags -isystem $root/usr/include \
-isystem $root/usr/include/$triple $links"
fi

make -j"$(nproc)" BUILD="$build" CROSS_COMPILE=$triple- CC=$triple-gcc BPF=0 \
	TOP=0 SDT=0 MPI=0 XXHASH=0 \
	CFLAGS="$flags" LDFLAGS="$links" "$build/liblkdf.so" \
	"$build/examples/hello" "$@" >"$build/arm64.log" 2>&1
fact $? 'library, first example and core tests are built'
export QEMU_LD_PREFIX="/usr/$triple"
export LD_LIBRARY_PATH="$root/usr/lib/$triple"
export HANG_DEBUGGER=none
# The emulator is a slow machine.
export LKDF_TIME_SCALE=4

# emulated PROGRAM ARGUMENT...: its output to the log; the library's path is its own
emulated() {
	path=$LD_LIBRARY_PATH
	LD_LIBRARY_PATH='' timeout -k 5 "${LIMIT:-600}" "$emulator" \
		-E LD_LIBRARY_PATH="$path" "$@" >"$build/arm64.log" 2>&1
}

emulated "$build/examples/hello"
fact $? 'the first example runs'
for test in "$@"; do
	emulated "$test" && grep -q '^1\.\.[1-9]' "$build/arm64.log" &&
		! grep -q '^not ok' "$build/arm64.log"
	fact $? "${test#"$build"/tests/}: $(grep -c '^ok' "$build/arm64.log") facts"
done
echo "1..$nr"
exit "$failed"
