#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What a user does after make install: build a program with pkg-config and CMake
# in C and C++, shared and static, run it; then make uninstall leaves nothing.
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

# A program that is linked where the library was installed needs no variable.
# shellcheck disable=SC2046
found() {
	make -s BUILD="${BUILD:-build}" CC="${CC:-gcc}" PREFIX="$dir/own" \
		install &&
		"${CC:-gcc}" "$dir/own/share/doc/lkdf/Documentation/examples/hello.c" \
			-o "$dir/hello" $(PKG_CONFIG_PATH="$dir/own/lib/pkgconfig" \
				pkg-config --cflags --libs lkdf) &&
		"$dir/hello" | grep -q '^world from worker'
}

# Each link of a page that is installed leads to what is installed.
links() {
	! (
		cd "$1" && grep -o '<[a-z./_-]*\.\(rst\|png\|svg\|c\|cc\|md\)>' \
			-r --include='*.rst' . | tr -d '<>' | sort -u |
			while IFS=: read -r page to; do
				[ -e "${page%/*}/$to" ] || echo "$page: $to"
			done
	) | grep .
}

# The packages whose own libraries a static program needs.
private() {
	for package; do
		pc --print-requires-private lkdf | grep -qx "$package" || return 1
	done
}

# lkdf check finds the sanitizer in a program with the flags that pkg-config gives.
# shellcheck disable=SC2046
checked() {
	"$@" -Wall -Wextra -Werror -pedantic "$dir/a.c" -o "$dir/checked" \
		$(pc --cflags --libs lkdf-check) &&
		is_checked "$dir/checked"
}

is_checked() {
	LD_LIBRARY_PATH=$root$prefix/lib/here "$root$prefix/bin/lkdf" check -- "$1" \
		>"$dir/said" 2>&1
	rc=$?
	cat "$dir/said"
	[ $rc -eq 125 ] && [ "$(wc -l <"$dir/said")" -eq 1 ] &&
		grep -q '^lkdf check: nothing was checked: .* has opened no runtime' \
			"$dir/said"
}

has_tsan() {
	echo 'int main(void) { return 0; }' |
		"${CC:-gcc}" -fsanitize=thread -x c - -o "$dir/tsan" 2>/dev/null
}

# The archive by name, or the linker would take the shared library. hwloc.pc names
# -ludev, which a shared hwloc needs no more: where libudev-dev is missing it goes.
# shellcheck disable=SC2046
static() {
	names_as='s/-llkdf/-l:liblkdf.a/'
	echo 'int main(void) { return 0; }' | "$1" -x c - -ludev -o "$dir/udev" \
		2>/dev/null || names_as="$names_as; s/-ludev//"
	"$@" -Wall -Wextra -Werror -pedantic "$dir/a.c" -o "$dir/static" \
		$(pc --cflags lkdf) $(pc --static --libs lkdf |
			sed "$names_as") && "$dir/static" &&
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
ok 'every public header is there' diff -r -x lkdf_kmod.h -x mpi.h \
	lib/include/lkdf \
	"$root$prefix/include/lkdf"
ok "the device's header is there" cmp kmod/uapi/lkdf_kmod.h \
	"$root$prefix/include/lkdf/lkdf_kmod.h"
ok "the device's manual is there" cmp Documentation/lkdf.4 \
	"$root$prefix/share/man/man4/lkdf.4"
# The names of the pages of a tool's verbs, and of the words of trace.
pages_of() {
	echo lkdf.1
	"$1" --help | sed -n '/^verbs:/,/^$/s/^  \([a-z]*\).*/lkdf-\1.1/p'
	"$1" trace --help |
		sed -n '/^words:/,/^$/s/^  \([a-z]*\).*/lkdf-trace-\1.1/p'
}
pages_of "${BUILD:-build}/lkdf" | sort >"$dir/pages"
find "$root$prefix/share/man/man1" -type f -size +100c -printf '%f\n' |
	sort >"$dir/installed"
ok 'a page is there for each verb, and no other' diff "$dir/pages" \
	"$dir/installed"
{ echo lkdf && tests/lint/mapped.sh; } | sed 's/$/.3/' | sort >"$dir/pages"
find "$root$prefix/share/man/man3" -type f -size +100c -printf '%f\n' |
	sort >"$dir/installed"
ok "the library's manual is there, with a page for each function" diff \
	"$dir/pages" "$dir/installed"
ok 'the completion of bash is there' cmp tools/main/completion.bash \
	"$root$prefix/share/bash-completion/completions/lkdf"
ok 'the completion of zsh is there' cmp tools/main/completion.zsh \
	"$root$prefix/share/zsh/site-functions/_lkdf"
ok 'the allocator of other programs is there, and stands alone' test -z \
	"$(LD_PRELOAD="$root$prefix/lib/here/liblkdf-malloc.so" cat /dev/null 2>&1)"
ok 'libraries are no programs' test -z \
	"$(find "$root$prefix/lib" -type f -perm /111)"
ok 'pages lead to pages and examples that are installed' links \
	"$root$prefix/share/doc/lkdf/Documentation"
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
		if has_tsan && [ -x "$root$prefix/bin/lkdf" ]; then
			ok 'a program with lkdf-check is checked' checked \
				"${CC:-gcc}" -std=c11
			ok 'and one in C++' checked "${CXX:-g++}" -std=c++17 -x c++
		else
			skip 'a program with lkdf-check is checked' \
				'no thread sanitizer'
		fi
		ok 'an installed example finds its library without a variable' found
		ok 'a C11 program links the archive' static "${CC:-gcc}" \
			-std=c11
		ok 'pkg-config gives it what hwloc and numa need themselves' \
			private hwloc numa
	else
		skip 'a program builds and runs' 'lkdf.map names no lkdf_errmsg'
	fi
else
	skip 'a program builds and runs' 'pkg-config is not installed'
fi
# by_cmake TARGET SUFFIX STANDARD VERSION: the program builds and runs
by_cmake() {
	src=$dir/cmake-$2-${1#*::}
	mkdir "$src" && cp "$dir/a.c" "$src/a.$2" || return
	case $2 in c) lang=C ;; *) lang=CXX ;; esac
	cat >"$src/CMakeLists.txt" <<END
cmake_minimum_required(VERSION 3.13)
project(a $lang)
set(CMAKE_${lang}_STANDARD $3)
find_package(lkdf $4 REQUIRED)
add_executable(a a.$2)
target_link_libraries(a $1)
END
	CC=${CC:-gcc} CXX=${CXX:-g++} cmake -S "$src" -B "$src/b" \
		-Dlkdf_DIR="$root$prefix/lib/here/cmake/lkdf" &&
		cmake --build "$src/b" && "$src/b/a"
}

# It asks for a version that is not there.
too_new() {
	! by_cmake lkdf::lkdf cc 17 9.0 && grep -q 'version: *[0-9]' "$dir/log"
}

version=$(sed -n 's/^VERSION := //p' Makefile)
if command -v cmake >/dev/null && command -v g++ >/dev/null; then
	ok 'CMake finds the library for C' by_cmake lkdf::lkdf c 11 "$version"
	ok 'CMake finds the archive for C++' by_cmake lkdf::static cxx 17 \
		"$version"
	if has_tsan && [ -x "$root$prefix/bin/lkdf" ]; then
		ok 'CMake has lkdf::check' by_cmake lkdf::check cc 17 "$version"
		ok 'and lkdf check looks into its program' is_checked \
			"$dir/cmake-cc-check/b/a"
	else
		skip 'CMake has lkdf::check' 'no thread sanitizer'
	fi
	ok 'the archive needs no shared library' test -z \
		"$(ldd "$dir/cmake-cxx-static/b/a" | grep liblkdf)"
	ok 'CMake refuses a version that is too new' too_new
else
	skip 'CMake finds the library' 'cmake is not installed'
fi
if [ -f "$root$prefix/bin/lkdf" ]; then
	ok 'the installed lkdf runs' env LD_LIBRARY_PATH="$root$prefix/lib/here" \
		"$root$prefix/bin/lkdf" --help
fi
ok 'make uninstall works' do_make uninstall
ok 'no file is left behind' test -z "$(find "$root" ! -type d)"
ok 'no folder is left behind' test ! -e "$root$prefix"
echo "1..$nr"
[ "$failed" -eq 0 ]
