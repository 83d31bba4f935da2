#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# headers.sh VERSION (6.1, 6.12): prints a folder to build modules in for the
# kernel that tests/vm/kernel.sh boots. The packages are unpacked, never
# installed; only the path in the Makefile of the headers is changed.
#
# Exit status 3, one line on stderr: there are none.
set -u
version=$1
image=$("$(dirname "$0")/../vm/kernel.sh" "$version") || exit $?
cache=$(dirname "$image")

none() {
	echo "no headers of kernel $version: $*" >&2
	exit 3
}

if [ "$cache" = /boot ]; then
	dir=/lib/modules/${image#/boot/vmlinuz-}/build
	[ -f "$dir/Makefile" ] || none "install linux-headers-${image#*linuz-}"
	echo "$dir"
	exit
fi
cache=$(cd "$cache" && pwd)
dir=$cache/headers
if [ ! -d "$dir" ]; then
	deb=$(basename "$cache"/linux-image-*.deb)
	name=$(echo "$deb" | sed 's/^linux-image-\(.*\)_.*_.*/linux-headers-\1/')
	# The version of a package in its file name: % codes of : and such.
	revision=$(dpkg-deb -f "$cache/$deb" Version)
	new=$(mktemp -d "$dir.XXXXXX") || exit 1
	chmod 755 "$new"
	get() {
		(cd "$new" && timeout 300 apt-get download "$@") >"$new/log" \
			2>&1 && return
		rm -rf "$new"
		none "the mirror has no $*"
	}
	get "$name=$revision"
	# shellcheck disable=SC2046
	get $(dpkg-deb -f "$new/$name"_*.deb Depends | tr , '\n' |
		sed -n 's/^ *\(linux-[a-z]*-[^ ]*\).*/\1/p' |
		grep -E '^linux-(headers|kbuild)-')
	for f in "$new"/*.deb; do
		dpkg-deb -x "$f" "$new" && rm "$f"
	done
	sed -i "s#/usr/src/#$dir/usr/src/#" "$new/usr/src/$name/Makefile"
	ln -s "usr/src/$name" "$new/build"
	mv -T "$new" "$dir" 2>/dev/null || rm -rf "$new"
fi
readlink -f "$dir/build"
