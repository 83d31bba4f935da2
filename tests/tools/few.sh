#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What lkdf needs is little: everything that make builds, and the tests given,
# are built where the compiler finds no header but those of the C library, the
# kernel, hwloc, libnuma and liburing. few.sh TARGET... speaks TAP; it builds
# in $BUILD. It finds the headers by Debian's package database.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# Names of targets are below $BUILD as it was given.
given=${BUILD:-build/few}
version=$(g++ -dumpversion | cut -d . -f 1)
packages="libc6-dev linux-libc-dev libcrypt-dev libhwloc-dev libnuma-dev
liburing-dev libstdc++-$version-dev"
# What the shared library may ask the loader for.
needed='libhwloc libnuma liburing libc ld libgcc_s libpthread libm'
include=$build/include

if ! command -v dpkg-query >/dev/null; then
	echo '1..0 # SKIP this is not Debian: dpkg-query tells whose headers are whose'
	exit 0
fi
rm -rf "$include"
mkdir -p "$include"
for package in $packages; do
	dpkg-query -L "$package" 2>/dev/null | grep '^/usr/include/'
done | while read -r file; do
	[ -f "$file" ] || continue
	to=$include/${file#/usr/include/}
	mkdir -p "${to%/*}"
	ln -sf "$file" "$to"
done
only="-nostdinc -isystem $(gcc -print-file-name=include) -isystem $include"
only="$only -isystem $include/$(gcc -print-multiarch)"
cxx="g++ -isystem $include/c++/$version"
cxx="$cxx -isystem $include/$(gcc -print-multiarch)/c++/$version"

# shellcheck disable=SC2086 # one word each
make -j"$(nproc)" BUILD="$given" BPF=0 MPI=0 CC=gcc CXX="$cxx" \
	CFLAGS="-O1 -g $only" all "$@" >"$dir/log" 2>&1
ok $? 'library, tools, examples and core tests build with these headers alone'
grep -q 'absent  examples/dupes: it needs libxxhash-dev' "$dir/log"
ok $? 'what is left out is named: the example dupes'
[ ! -e "$build/examples/dupes" ] && [ -x "$build/examples/hello" ]
ok $? 'the other examples are there'
grep -q 'absent  lkdf probe.*: it needs clang bpftool libbpf-dev' "$dir/log"
ok $? 'so are the BPF programs'
"$build/lkdf" probe start --dir "$build/pins" >"$dir/more" 2>&1
[ $? -eq 4 ] && grep -q 'built without BPF programs' "$dir/more" &&
	[ ! -e "$build/pins" ]
ok $? 'and the verb that needs them says so'
for name in $(readelf -d "$build/liblkdf.so" |
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case " $needed " in
	*" ${name%%[.]so*} "* | *" ${name%%-linux*} "*) ;;
	*) echo "it needs $name" >>"$dir/log" && false ;;
	esac || break
done
ok $? 'the shared library needs no other'
echo "1..$nr"
exit "$failed"
