#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A core of tests for arm64, cross built and run by qemu-user: TAP. What a test
# says of time, of CPUs and of the kernel is the emulator's: programs that need
# more than threads and memory are left out. arm64.sh TARGET... builds in $BUILD.
# Libraries lie where Debian's arm64 packages put them, or below $ARM64_ROOT,
# where such packages were unpacked.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# Names of targets are below $BUILD as it was given.
given=${BUILD:-build/arm64}
root=${ARM64_ROOT:-}
triple=aarch64-linux-gnu
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static)

# absent WHAT PACKAGES
absent() {
	echo "1..0 # SKIP no $1: $2"
	exit 0
}

command -v $triple-gcc >/dev/null || absent "compiler for arm64" gcc-$triple
[ -n "$emulator" ] || absent "emulator of arm64" qemu-user
[ -e "$root/usr/lib/$triple/libhwloc.so" ] || absent "library for arm64" \
	'libhwloc-dev:arm64 libnuma-dev:arm64 liburing-dev:arm64, or ARM64_ROOT'
flags="-O1 -g"
links=
if [ -n "$root" ]; then
	links="-L$root/usr/lib/$triple -Wl,-rpath-link,$root/usr/lib/$triple"
	flags="$flags -isystem $root/usr/include \
-isystem $root/usr/include/$triple $links"
fi

make -j"$(nproc)" BUILD="$given" CROSS_COMPILE=$triple- CC=$triple-gcc BPF=0 \
	TOP=0 SDT=0 MPI=0 XXHASH=0 \
	CFLAGS="$flags" LDFLAGS="$links" "$given/examples/hello" "$@" \
	>"$dir/log" 2>&1
ok $? 'library, first example and core tests are built'
export QEMU_LD_PREFIX="/usr/$triple"
export LD_LIBRARY_PATH="$root/usr/lib/$triple"
export HANG_DEBUGGER=none
# The emulator is a slow machine.
export LKDF_TIME_SCALE=4

# emulated PROGRAM ARGUMENT...: its output to the log; the library's path is its own
emulated() {
	path=$LD_LIBRARY_PATH
	LD_LIBRARY_PATH='' timeout -k 5 "${LIMIT:-600}" "$emulator" \
		-E LD_LIBRARY_PATH="$path" "$@" >"$dir/log" 2>&1
}

emulated "$given/examples/hello"
ok $? 'the first example runs'
for test in "$@"; do
	emulated "$test" && grep -q '^1\.\.[1-9]' "$dir/log" &&
		! grep -q '^not ok' "$dir/log"
	ok $? "${test#"$given"/tests/}: $(grep -c '^ok' "$dir/log") facts"
done
echo "1..$nr"
exit "$failed"
