#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# kit.sh BUILD: fills BUILD/scale-kit with lkdf-bench, the peers that were built
# and their libraries, so that ./scale runs on a bare machine with the same C
# library or a newer one. Everything is stripped.
set -eu
build=$1
kit=$build/scale-kit
rm -rf "$kit"
mkdir -p "$kit/lib" "$kit/tests/bench"
cp "$build/lkdf-bench" "$kit/"
for peer in "$build"/tests/bench/peer_tbb "$build"/tests/bench/peer_taskflow; do
	if [ -x "$peer" ]; then
		cp "$peer" "$kit/tests/bench/"
	fi
done

# All but the C library, which belongs to the machine's loader.
find "$kit" -type f -perm -u+x | while read -r program; do
	LD_LIBRARY_PATH=$build ldd "$program"
done | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' | sort -u |
	grep -vE '/(libc|libm|libpthread|libdl|librt)\.so' |
	while read -r file; do
		cp -L "$file" "$kit/lib/"
	done
find "$kit" -type f -exec strip --strip-unneeded '{}' +

cat >"$kit/scale" <<'END'
#!/bin/sh
# ./scale [option of lkdf bench scale...]: measures this machine in at most
# four minutes, writes scale.json and the page scale.txt beside this file.
here=$(cd "$(dirname "$0")" && pwd)
max=$(nproc)
list=1
for n in 2 4 8 12 16 24 32 48 64; do
	[ "$n" -gt "$max" ] || list=$list,$n
done
export LD_LIBRARY_PATH="$here/lib"
"$here/lkdf-bench" scale --workers "$list" --out "$here/scale.json" "$@" \
	>"$here/scale.txt"
rc=$?
cat "$here/scale.txt"
# A bar that is missed is a finding, not a failure.
[ $rc -le 1 ] || exit $rc
END
chmod +x "$kit/scale"
du -sk "$kit" | awk '{ print "scale-kit: " $1 " KiB"; exit $1 >= 32 * 1024 }'
