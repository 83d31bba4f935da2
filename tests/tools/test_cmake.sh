#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Programs whose build has lkdf in it: lib/CMakeLists.txt, for FetchContent,
# add_subdirectory and cmake --install. The library has the same files and
# exports the same functions as that of make.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
command -v cmake >/dev/null || {
	echo '1..0 # SKIP cmake is not installed'
	exit 0
}
top=$PWD
cc=${CC:-gcc}
cxx=${CXX:-g++}

# program NAME LINE...: $dir/NAME, a project of a C and of a C++ program; the
# lines say where lkdf is
program() {
	mkdir "$dir/$1" || return
	cat >"$dir/$1/a.c" <<-'END'
		#include <lkdf/lkdf.h>
		#include <stdio.h>
		int main(void)
		{
			struct lkdf *rt;
			if (lkdf_open("workers=1", &rt))
				return 1;
			printf("%d worker\n", lkdf_nr_workers(rt));
			lkdf_close(rt);
			return 0;
		}
	END
	cat >"$dir/$1/b.cc" <<-'END'
		#include <lkdf/lkdf.hpp>
		#include <cstdio>
		int main()
		{
			lk::runtime rt("workers=1");
			std::printf("%d\n", rt.async([] { return 42; }).get());
		}
	END
	name=$1
	shift
	{
		printf '%s\n' 'cmake_minimum_required(VERSION 3.18)' \
			'project(user C CXX)' 'set(CMAKE_CXX_STANDARD 17)' \
			"$@" 'add_executable(a a.c)' 'add_executable(b b.cc)' \
			'target_link_libraries(a lkdf::lkdf)' \
			'target_link_libraries(b lkdf::lkdf)'
	} >"$dir/$name/CMakeLists.txt"
}

# configure NAME ARGUMENT...
configure() {
	name=$1
	shift
	cmake -S "$dir/$name" -B "$dir/$name/build" -DCMAKE_C_COMPILER="$cc" \
		-DCMAKE_CXX_COMPILER="$cxx" -DCMAKE_C_FLAGS=-O0 "$@" \
		>"$dir/log" 2>&1
}

# prints NAME: what its two programs say
prints() {
	"$limit" 60 "$dir/$1/build/a" >"$dir/log" 2>&1 &&
		"$limit" 60 "$dir/$1/build/b" >>"$dir/log" 2>&1 &&
		test "$(cat "$dir/log")" = '1 worker
42'
}

exports() {
	nm -D --defined-only "$1" | sed -n 's/.* T //p' | sort
}

program fetched 'include(FetchContent)' \
	"FetchContent_Declare(lkdf SOURCE_DIR $top SOURCE_SUBDIR lib)" \
	'FetchContent_MakeAvailable(lkdf)'
configure fetched -DCMAKE_INSTALL_PREFIX="$dir/installed" \
	-DCMAKE_INSTALL_LIBDIR=lib
ok $? 'FetchContent takes the library as it is'
cmake --build "$dir/fetched/build" --parallel 2 >"$dir/log" 2>&1
ok $? 'and builds it with the programs'
! grep -q 'warning:' "$dir/log"
ok $? 'without a warning'
prints fetched
ok $? 'which run'
exports "$build/liblkdf.so" >"$dir/want"
exports "$(find "$dir/fetched/build" -name 'liblkdf.so')" >"$dir/got"
test -s "$dir/want" && diff "$dir/want" "$dir/got" >"$dir/log"
ok $? "it exports what make's library exports"

program below "add_subdirectory($top/lib lkdf)"
configure below -DCMAKE_EXPORT_COMPILE_COMMANDS=ON
ok $? 'add_subdirectory takes it, too'
env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS make -s --no-print-directory \
	print-library CC="$cc" WERROR=0 2>"$dir/log" |
	sed -n 's/^SOURCES //p' | tr ' ' '\n' | sort >"$dir/want"
sed -n "s|^ *\"file\": \"$top/\(.*\)\".*|\1|p" \
	"$dir/below/build/compile_commands.json" | sort >"$dir/got"
test -s "$dir/want" && diff "$dir/want" "$dir/got" >"$dir/log"
ok $? "its files are those of make's list"
! configure below -DLKDF_SWITCHES='URING=2' &&
	grep -q 'URING=2: a switch is auto' "$dir/log"
ok $? 'a switch that make refuses ends it, with the reason'
configure below -DLKDF_SWITCHES='URING=0' &&
	! grep -q 'lib/ring/fill.c' "$dir/below/build/compile_commands.json"
ok $? 'URING=0 leaves out what make leaves out'

cmake --install "$dir/fetched/build" >"$dir/log" 2>&1
ok $? 'cmake --install installs it'
program found 'find_package(lkdf REQUIRED)'
configure found -DCMAKE_PREFIX_PATH="$dir/installed" &&
	cmake --build "$dir/found/build" >"$dir/log" 2>&1
ok $? 'where find_package() finds it'
prints found
ok $? 'and programs that it gave run'
echo "1..$nr"
exit $failed
