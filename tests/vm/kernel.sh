#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# kernel.sh VERSION (6.1, 6.12): prints the path of a Debian kernel image of
# that version. Looks into the cache, then into /boot, then takes the newest
# package that the mirror has; it is unpacked, never installed. The package is
# kept: its modules lie in it, "kernel.sh VERSION PATTERN" unpacks those whose
# file name matches and prints their paths.
#
# Exit status 3, one line on stderr: there is no such kernel to be had.
set -u
version=$1
cache=${LKDF_VM_CACHE:-${BUILD:-build}/vm}/kernel-$version

none() {
	echo "no kernel $version: $*" >&2
	exit 3
}

# Names of packages, the newest first; signed images of the plain flavour.
packages() {
	apt-cache search --names-only \
		"^linux-image-$version[.][.+0-9a-z-]*-amd64$" |
		awk '{ print $1 }' | grep -vE -- '-(cloud|rt)-' | sort -rV
}

take_package() {
	for name in $(packages | head -n 3); do
		(cd "$1" && timeout 300 apt-get download "$name") \
			>"$1/log" 2>&1 && break
	done
	set -- "$1" "$1"/linux-image-*.deb
	[ -f "$2" ] && dpkg-deb --fsys-tarfile "$2" |
		tar -xf - -C "$1" ./boot && mv "$1"/boot/vmlinuz-* "$1/vmlinuz" &&
		rm -rf "$1/boot" "$1/log"
}

image() {
	[ -f "$cache/vmlinuz" ] && return
	for f in /boot/vmlinuz-"$version"[.-]*-amd64; do
		[ -r "$f" ] && cache=$f && return
	done
	[ "$(uname -m)" = x86_64 ] || none "only made for x86_64"
	command -v apt-get >/dev/null && command -v dpkg-deb >/dev/null ||
		none "this is not Debian"
	mkdir -p "$(dirname "$cache")" || exit 1
	new=$(mktemp -d "$cache.XXXXXX") || exit 1
	chmod 755 "$new"
	if take_package "$new"; then
		# Whoever was faster wins.
		mv -T "$new" "$cache" 2>/dev/null || rm -rf "$new"
	else
		rm -rf "$new"
		none "the mirror has no package of it"
	fi
}

image
if [ $# -gt 1 ]; then
	[ -d "$cache" ] || none "no package with modules, only $cache"
	dpkg-deb --fsys-tarfile "$cache"/linux-image-*.deb |
		tar -xf - -C "$cache" --wildcards "./lib/modules/*/$2" || exit 1
	find "$cache/lib" -path "*/$2"
elif [ -f "$cache" ]; then
	echo "$cache"
else
	echo "$cache/vmlinuz"
fi
