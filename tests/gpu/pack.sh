#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Packs all that a machine with a card is to run into one folder:
#   tests/gpu/pack.sh [FOLDER]       .gpu, from the build that BUILD names
# There, glibc, the driver and for texts in CUDA C the toolkit's libnvrtc are
# needed, and no more; on_device.sh in the folder runs it.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
to=${1:-.gpu}
limit_kib=32768

rm -rf "$to"
mkdir -p "$to/lib"

# copy FILE...: of the build, to the same place below the folder's build
copy() {
	for f; do
		mkdir -p "$to/build/$(dirname "${f#"$build"/}")"
		cp -L "$f" "$to/build/${f#"$build"/}"
	done
}

# The programs that ask a driver, and the driver for a machine that has none.
sources=$(grep -lE 'device_each|device_driver|driver_options|opencl_env' \
	tests/api/device/test_*.c)
programs=
for f in $sources tests/api/cuda/test_*.c; do
	f=$build/${f%.c}
	[ -x "$f" ] || {
		echo "pack.sh: no $f: make gpu-pack builds it" >&2
		exit 1
	}
	programs="$programs $f"
done
# shellcheck disable=SC2086 # names of tests have no spaces
copy $programs "$build/lkdf" "$build/lkdf-bench" \
	"$build/tests/oracle/devices/oracle" \
	"$build/tests/cuda/cuda-conformance" "$build/tests/cuda/libcuda.so.1" \
	"$build/tests/cuda/libnvrtc.so" "$build/tests/cuda/libcuda_stub.so" \
	"$build/tests/cuda/libcuda_old.so" "$build/liblkdf.so.0"

# What they are linked with, but for the C library.
find "$to/build" -type f -perm -100 -exec ldd {} + 2>/dev/null |
	sed -n 's/.* => \(\/[^ ]*\) .*/\1/p' | sort -u |
	grep -Ev '/(ld-linux|lib(c|m|dl|rt|pthread|resolv|lkdf[^/]*))[-.][^/]*$' |
	while read -r f; do
		[ -e "$to/lib/${f##*/}" ] || cp -L "$f" "$to/lib/"
	done
loader=$(ldconfig -p 2>/dev/null | sed -n 's/.*libOpenCL\.so\.1 .* => //p' |
	head -n 1)
[ -z "$loader" ] || cp -L "$loader" "$to/lib/libOpenCL.so.1"

mkdir -p "$to/tests/cuda"
cp tests/cuda/golden.txt tests/cuda/unclaimed.txt "$to/tests/cuda/"
cp tests/gpu/on_device.sh "$to/"
find "$to/build" "$to/lib" -type f -perm -100 -exec strip {} + 2>/dev/null ||
	true
find "$to/lib" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true
kib=$(du -sk "$to" | cut -f 1)
[ "$kib" -lt "$limit_kib" ] || {
	echo "pack.sh: $to has $kib KiB, at most $limit_kib" >&2
	exit 1
}
echo "$to: $kib KiB; cd $to && ./on_device.sh OUT"
