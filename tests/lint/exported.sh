#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What a built library exports is what lib/lkdf.map names. $BUILD says where it
# is; without one there is nothing to look at.
set -u
command -v nm >/dev/null || {
	echo "nm is not installed"
	exit 77
}
lib=$(find "${BUILD:-build}" -maxdepth 1 -type f -name 'liblkdf.so.*' \
	2>/dev/null | sort | tail -n 1)
[ -n "$lib" ] || {
	echo "no built library in ${BUILD:-build}"
	exit 77
}
if [ -n "$(find lib/lkdf.map -newer "$lib")" ]; then
	echo "$lib is older than lib/lkdf.map"
	exit 77
fi
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/lint/mapped.sh >"$dir/map"
nm -D --defined-only "$lib" | awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' |
	sort -u >"$dir/exported"
bad=0
for f in $(comm -13 "$dir/exported" "$dir/map"); do
	line=$(grep -nw "$f" lib/lkdf.map | head -n 1 | cut -d : -f 1)
	echo "lib/lkdf.map:$line: $f is named but not defined in lib/api"
	bad=1
done
for f in $(comm -23 "$dir/exported" "$dir/map"); do
	echo "lib/lkdf.map:1: $f is exported but not named: make it static or hidden"
	bad=1
done
exit $bad
