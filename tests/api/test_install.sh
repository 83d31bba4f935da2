#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What a user does after make install: build a program with pkg-config in C
# and C++, shared and static, run it; then make uninstall leaves nothing.
set -u
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0

# ok FACT COMMAND...
ok() {
	nr=$((nr + 1))
	fact=$1
	shift
	if "$@" >"$dir/log" 2>&1; then
		echo "ok $nr - $fact"
		return
	fi
	failed=$((failed + 1))
	echo "not ok $nr - $fact"
	sed 's/^/# /' "$dir/log"
}

skip() {
	nr=$((nr + 1))
	echo "ok $nr - $1 # SKIP $2"
}

root=$dir/root
prefix=/opt/lkdf
do_make() {
	make -s BUILD="${BUILD:-build}" CC="${CC:-gcc}" DESTDIR="$root" \
		PREFIX="$prefix" LIBDIR="$prefix/lib/here" "$1"
}

pc() {
	PKG_CONFIG_SYSROOT_DIR=$root pkg-config \
		--with-path="$root$prefix/lib/here/pkgconfig" "$@"
}

# shellcheck disable=SC2046
shared() {
	"$@" -Wall -Wextra -Werror -pedantic "$dir/a.c" -o "$dir/shared" \
		$(pc --cflags --libs lkdf) &&
		LD_LIBRARY_PATH=$root$prefix/lib/here "$dir/shared"
}

# The archive by name, or the linker would take the shared library.
# shellcheck disable=SC2046
static() {
	"$@" -Wall -Wextra -Werror -pedantic "$dir/a.c" -o "$dir/static" \
		$(pc --cflags lkdf) $(pc --static --libs lkdf |
			sed 's/-llkdf/-l:liblkdf.a/') && "$dir/static" &&
		! ldd "$dir/static" | grep -q liblkdf
}

cat >"$dir/a.c" <<'END'
#include <lkdf/lkdf.h>
#include <string.h>

int main(void)
{
	const char *text = lkdf_errmsg();

	/* Nothing has failed in this thread. */
	return text && strcmp(text, "") == 0 ? 0 : 1;
}
END

# Modes may not come from whoever runs this.
umask 077
ok 'make install puts everything under DESTDIR' do_make install
ok 'the shared library is found through its links' \
	test "$(readlink -f "$root$prefix/lib/here/liblkdf.so")" = \
	"$(ls "$root$prefix"/lib/here/liblkdf.so.*.*)"
ok 'every public header is there' diff -r -x lkdf_kmod.h lib/include/lkdf \
	"$root$prefix/include/lkdf"
ok "the device's header is there" cmp kmod/uapi/lkdf_kmod.h \
	"$root$prefix/include/lkdf/lkdf_kmod.h"
ok "the device's manual is there" cmp Documentation/lkdf.4 \
	"$root$prefix/share/man/man4/lkdf.4"
ok 'others may read what is installed' test -z \
	"$(find "$root$prefix" -type f ! -perm -444)"
# of MAJOR, MINOR or PATCH
of() {
	sed -n "s/^#define LKDF_VERSION_$1 //p" lib/include/lkdf/base.h
}
ok 'the header knows the version' test "$(of MAJOR).$(of MINOR).$(of PATCH)" = \
	"$(sed -n 's/^VERSION := //p' Makefile)"
if command -v pkg-config >/dev/null; then
	ok 'pkg-config knows the version' test "$(pc --modversion lkdf)" = \
		"$(sed -n 's/^VERSION := //p' Makefile)"
	if grep -qw lkdf_errmsg lib/lkdf.map; then
		ok 'a C11 program builds and runs' shared "${CC:-gcc}" -std=c11
		ok 'a C++17 program builds and runs' shared "${CXX:-g++}" \
			-std=c++17 -x c++
		ok 'a C11 program links the archive' static "${CC:-gcc}" \
			-std=c11
	else
		skip 'a program builds and runs' 'lkdf.map names no lkdf_errmsg'
	fi
else
	skip 'a program builds and runs' 'pkg-config is not installed'
fi
if [ -f "$root$prefix/bin/lkdf" ]; then
	ok 'the installed lkdf runs' env LD_LIBRARY_PATH="$root$prefix/lib/here" \
		"$root$prefix/bin/lkdf" --help
fi
ok 'make uninstall works' do_make uninstall
ok 'no file is left behind' test -z "$(find "$root" ! -type d)"
ok 'no folder of ours is left behind' test -z \
	"$(find "$root" -depth -path "*/lkdf/lkdf" -o -path '*/include/lkdf' \
		-o -path '*/doc/lkdf')"
echo "1..$nr"
[ "$failed" -eq 0 ]
