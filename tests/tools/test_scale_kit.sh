#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The folder of make scale-kit: small, whole, and it runs where it is copied to.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

mkdir -p "$dir/build/tests/bench"
cp "$build/lkdf-bench" "$build"/liblkdf.so* "$dir/build/"
for peer in peer_tbb peer_taskflow; do
	[ ! -x "$build/tests/bench/$peer" ] ||
		cp "$build/tests/bench/$peer" "$dir/build/tests/bench/"
done
tests/bench/kit.sh "$dir/build" >"$dir/log" 2>&1
ok $? 'a kit of less than 32 MiB is made'
mv "$dir/build/scale-kit" "$dir/kit" && rm -rf "$dir/build"

# Only the C library is the machine's.
find "$dir/kit" -type f -perm -u+x ! -name scale ! -path '*/lib/*' |
	while read -r program; do
		LD_LIBRARY_PATH=$dir/kit/lib ldd "$program"
	done >"$dir/libraries"
grep -v "$dir/kit/lib/" "$dir/libraries" |
	grep -vE '(libc|libm|libpthread|libdl|librt)\.so|linux-vdso|ld-linux' \
		>"$dir/log"
[ ! -s "$dir/log" ]
ok $? 'each program finds its libraries in it'
[ -s "$dir/libraries" ]
ok $? 'of which there are some'

(cd / && env -i PATH=/usr/bin:/bin "$dir/kit/scale" --help) >"$dir/log" 2>&1
ok $? 'scale runs there without the sources'
grep -q 'what more workers win' "$dir/log"
ok $? 'and has the suite'

echo "1..$nr"
exit $failed
