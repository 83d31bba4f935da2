#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# kernel.sh VERSION (6.1, 6.12): prints the path of a Debian kernel image of
# that version. Looks into the cache, then into /boot, then takes the newest
# package that the mirror has; it is unpacked, never installed. The package is
# kept: its modules lie in it, "kernel.sh VERSION NAME" unpacks the module
# NAME.ko and prints its path.
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
		"^linux-image-${version}[.][.+0-9a-z-]*-amd64$" |
		awk '{ print $1 }' | grep -vE -- '-(cloud|rt)-' | sort -rV
}

# Into the folder new. The first that the mirror really has is taken.
take_package() {
	for name in $(packages | head -n 3); do
		(cd "$new" && timeout 300 apt-get download "$name") \
			>/dev/null 2>&1 && break
	done
	set -- "$new"/linux-image-*.deb
	[ -f "$1" ] && dpkg-deb --fsys-tarfile "$1" |
		tar -xf - -C "$new" ./boot && mv "$new"/boot/vmlinuz-* \
		"$new/vmlinuz" && rm -rf "${new:?}/boot"
}

image() {
	[ -f "$cache/vmlinuz" ] && return
	for f in /boot/vmlinuz-"$version"[.-]*-amd64; do
		[ -r "$f" ] && cache=$f && return
	done
	[ "$(uname -m)" = x86_64 ] || none "only made for x86_64"
	command -v apt-get >/dev/null || none "this is not Debian"
	mkdir -p "$(dirname "$cache")" || exit 1
	new=$(mktemp -d "$cache.XXXXXX") || exit 1
	chmod 755 "$new"
	if take_package; then
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
	dpkg-deb --fsys-tarfile "$cache"/linux-image-*.deb | tar -xf - \
		-C "$cache" --wildcards "./lib/modules/*/$2.ko*" || exit 1
	find "$cache/lib" -name "$2.ko.xz" -exec unxz -f '{}' +
	find "$cache/lib" -name "$2.ko"
elif [ -f "$cache" ]; then
	echo "$cache"
else
	echo "$cache/vmlinuz"
fi
