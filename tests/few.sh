#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What lkdf needs is little: everything that make builds, and the tests given,
# are built where the compiler finds no header but those of the C library, the
# kernel, hwloc, libnuma and liburing. few.sh TARGET... speaks TAP; it builds
# in $BUILD. It finds the headers by Debian's package database.
set -u
build=${BUILD:-build/few}
packages='libc6-dev linux-libc-dev libcrypt-dev libhwloc-dev libnuma-dev
liburing-dev libstdc++-12-dev'
# What the shared library may ask the loader for.
needed='libhwloc libnuma liburing libc ld libgcc_s libpthread libm'
include=$(pwd)/$build/include
nr=0
failed=0

fact() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		failed=1
		tail -n 20 "$build/few.log" | sed 's/^/# /'
	fi
}

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
cxx="g++ -isystem $include/c++/12"
cxx="$cxx -isystem $include/$(gcc -print-multiarch)/c++/12"

# shellcheck disable=SC2086 # one word each
make -j"$(nproc)" BUILD="$build" BPF=0 MPI=0 CC=gcc CXX="$cxx" \
	CFLAGS="-O1 -g $only" all "$@" >"$build/few.log" 2>&1
fact $? 'library, tools, examples and core tests build with these headers alone'
grep -q 'absent  examples/dupes: it needs libxxhash-dev' "$build/few.log"
fact $? 'what is left out is named: the example dupes'
[ ! -e "$build/examples/dupes" ] && [ -x "$build/examples/hello" ]
fact $? 'the other examples are there'
grep -q 'absent  lkdf probe.*: it needs clang bpftool libbpf-dev' "$build/few.log"
fact $? 'so are the BPF programs'
"$build/lkdf" probe start --dir "$build/pins" >"$build/probe.log" 2>&1
[ $? -eq 4 ] && grep -q 'built without BPF programs' "$build/probe.log" &&
	[ ! -e "$build/pins" ]
fact $? 'and the verb that needs them says so'
for name in $(readelf -d "$build/liblkdf.so" |
	sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'); do
	case " $needed " in
	*" ${name%%[.]so*} "* | *" ${name%%-linux*} "*) ;;
	*) echo "it needs $name" >>"$build/few.log" && false ;;
	esac || break
done
fact $? 'the shared library needs no other'
echo "1..$nr"
exit "$failed"
