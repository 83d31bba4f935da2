#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# debug_kernel.sh KIND (kasan, kcsan): builds Debian's linux-source-6.1 with the
# options of config.base and config.KIND, where tests/vm/kernel.sh and
# headers.sh find it as version 6.1-KIND-HASH, and prints that version. HASH is
# of the options and of the package's version: what is built already is not
# built again. One build takes 5 minutes of two cores, more for
# KCSAN, and 2 GiB of disk; it runs with nice 19.
#
# Exit status 3, one line on stderr: it cannot be built here.
set -u
unset MAKEFLAGS MAKELEVEL MFLAGS
kind=$1
here=$(cd "$(dirname "$0")" && pwd)
cache=${LKDF_VM_CACHE:-${BUILD:-build}/vm}
package=linux-source-6.1

none() {
	echo "no kernel with $kind: $*" >&2
	exit 3
}

[ -f "$here/config.$kind" ] || none "no file config.$kind"
for tool in flex bison bc xz gcc make; do
	command -v "$tool" >/dev/null || none "$tool is not installed"
done
[ -f /usr/include/gelf.h ] || none "libelf-dev is not installed"

mkdir -p "$cache/source-6.1" || exit 1
cache=$(cd "$cache" && pwd)
set -- "$cache"/source-6.1/*.deb
if [ ! -f "$1" ]; then
	command -v apt-get >/dev/null || none "this is not Debian"
	(cd "$cache/source-6.1" && timeout 600 apt-get download $package) \
		>/dev/null 2>&1 || none "the mirror has no $package"
	set -- "$cache"/source-6.1/*.deb
fi
source=$1
hash=$({
	basename "$source"
	cat "$here/config.base" "$here/config.$kind"
} | sha256sum | cut -c 1-12)
version=6.1-$kind-$hash
out=$cache/kernel-$version
[ ! -f "$out/vmlinuz" ] || {
	echo "$version"
	exit
}

# Asked for and not there after olddefconfig: the kernel would test less.
check_config() {
	cat "$here/config.base" "$here/config.$kind" | grep '^CONFIG_' |
		while IFS= read -r line; do
			grep -qxF "$line" .config || echo "$line"
		done
}

build() {
	dpkg-deb --fsys-tarfile "$source" | tar -xO ./usr/src/$package.tar.xz |
		xz -dc | tar -x --strip-components=1 || return 1
	make -s tinyconfig || return 1
	cat "$here/config.base" "$here/config.$kind" >>.config
	make -s olddefconfig || return 1
	lost=$(check_config)
	if [ -n "$lost" ]; then
		echo "options that did not survive:" "$lost"
		return 1
	fi
	nice -n 19 make -s -j"$(nproc)" bzImage modules || return 1
}

mkdir -p "$out/headers/linux-debug-$kind" || exit 1
out=$(cd "$out" && pwd)
cd "$out/headers/linux-debug-$kind" || exit 1
if ! build >"$out/log" 2>&1; then
	tail -n 20 "$out/log" >&2
	none "the build failed, see $out/log"
fi
ln -sfn "linux-debug-$kind" "$out/headers/build"
cp arch/x86/boot/bzImage "$out/vmlinuz"
echo "$version"
