#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The functions that the public headers declare are those that lib/lkdf.map
# names, and the page of calls, if there is one, says what each is for. Until
# lib/api exists and while the map names nothing, there is nothing to compare.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
tests/lint/functions.py | sort -u >"$dir/headers"
tests/lint/mapped.sh >"$dir/map" || exit 1
if [ ! -s "$dir/map" ] && ! ls lib/api/*.c >/dev/null 2>&1; then
	echo "lib/lkdf.map names no function yet"
	exit 77
fi
cut -f 1 "$dir/headers" | sort -u >"$dir/declared"
bad=0
for f in $(comm -23 "$dir/declared" "$dir/map"); do
	where=$(awk -F '\t' -v f="$f" '$1 == f { print $2; exit }' \
		"$dir/headers")
	echo "$where: $f() is not in lib/lkdf.map: add it there"
	bad=1
done
for f in $(comm -13 "$dir/declared" "$dir/map"); do
	line=$(grep -nw "$f" lib/lkdf.map | head -n 1 | cut -d : -f 1)
	echo "lib/lkdf.map:$line: $f is in no public header: declare it or drop it"
	bad=1
done
cp "$dir/map" "$dir/told"
page=Documentation/calls.rst
[ ! -f $page ] ||
	grep -oE '\blkdf_[a-z0-9_]+' $page | sort -u >"$dir/told"
for f in $(comm -13 "$dir/told" "$dir/map"); do
	line=$(grep -nw "$f" lib/lkdf.map | head -n 1 | cut -d : -f 1)
	echo "lib/lkdf.map:$line: $f is not in $page: say there what for"
	bad=1
done
exit $bad
