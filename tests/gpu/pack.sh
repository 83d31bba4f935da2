#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Packs all that a machine with a card is to run into one folder:
#   tests/gpu/pack.sh [FOLDER]       .gpu, from the build that BUILD names
# There, glibc, the driver and for texts in CUDA C the toolkit's libnvrtc are
# needed, and no more; on_device.sh in the folder runs it. Where libnvrtc is
# missing the folder's kernel cache serves, for cards of sm_90: NVRTC, which is
# the compiler's library here, has compiled there what the tests compile.
# LKDF_GPU_TESTS is a part of the names of tests whose texts are compiled.
set -eu
cd "$(dirname "$0")/../.."
build=${BUILD:-build}
to=${1:-.gpu}
limit_kib=32768
only=${LKDF_GPU_TESTS:-}
for d in "${CUDA_HOME:-/usr/local/cuda}" /opt/cuda; do
	for f in "$d/lib64/libnvrtc.so" "$d/lib/libnvrtc.so"; do
		[ ! -e "$f" ] || nvrtc=${nvrtc:-$f}
	done
done

rm -rf "$to"
mkdir -p "$to/lib"
to=$(cd "$to" && pwd)

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
	"$build/tests/cuda/libcuda_old.so" "$build/liblkdf.so.0" \
	"$build/examples/hooks_count.so"

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

# The tests fill one cache for the driver for tests; its texts another one.
mkdir -p "$to/kernels.test" "$to/kernels"
chmod 755 "$to/kernels.test" "$to/kernels"
for f in $programs "$build/tests/oracle/devices/oracle"; do
	case $f in
	*cuda_faults | *cuda_let_go | *cuda_lost | *conformance) continue ;; # texts of their own, or none
	*/oracle) echo "$f --devices 2 --seconds 1" ;;
	*"$only"*) echo "$f" ;;
	esac
done | LKDF_KERNEL_CACHE=$to/kernels.test LKDF_TEST_DEVICE=cuda \
	LKDF_TEST_EMULATED=no xargs -P 2 -I{} sh -c '{} >/dev/null 2>&1 || true'
if [ -n "${nvrtc:-}" ]; then
	"$build/tests/gpu/fill" "$to/kernels.test" "$to/kernels" "$nvrtc" \
		>"$to/kernels/texts" || {
		cat "$to/kernels/texts" >&2
		exit 1
	}
else
	echo "0 texts: NVRTC was not there" >"$to/kernels/texts"
fi

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
echo "$to: $kib KiB; kernels: $(tail -n 1 "$to/kernels/texts"); cd $to && ./on_device.sh OUT"
