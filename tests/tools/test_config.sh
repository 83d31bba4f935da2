#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Switches of the build: what make config prints is what lkdf doctor --build tells
# of the same build; a part that is wanted and cannot be stops make; an object is
# built again when its own switch or flag has changed, and a header of one table
# is part of few; CROSS_COMPILE names each tool.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS CPPFLAGS WERROR

do_make() {
	make CC="${CC:-gcc}" BUILD="$dir/b" "$@" >"$dir/log" 2>&1
}

# refuses WORDS ARGUMENT...: make stops and says so
refuses() {
	words=$1
	shift
	! do_make "$@" && grep -qF "$words" "$dir/log"
	ok $? "make $*: $words"
}

make -s CC="${CC:-gcc}" BUILD="$build" config >"$dir/config" 2>"$dir/log"
ok $? 'make config prints the switches'
"$build/lkdf" doctor --build >"$dir/built" 2>"$dir/log"
ok $? 'lkdf doctor --build tells what was built in'
for name in URING SDT BPF TOP MPI FRAME_POINTERS; do
	level=none
	! grep -q "^$name=1" "$dir/config" || level=ok
	grep -q "^$level  *$name: " "$dir/built"
	ok $? "$name is what make config says" "$dir/built"
done
grep -q "^ok .*lkdf $(sed -n 's/^VERSION := //p' Makefile) for" "$dir/built"
ok $? 'its version is that of the build' "$dir/built"

do_make TOP=0 config && grep -q '^TOP=0 .*left out as told' "$dir/log"
ok $? 'a part is left out as told'
refuses 'BPF=1: it needs clang bpftool libbpf-dev' BPF=1 \
	BPF_CLANG=/nonexistent config
do_make BPF_CLANG=/nonexistent config &&
	grep -q '^BPF=0 .*: it needs clang bpftool libbpf-dev$' "$dir/log"
ok $? 'what is missing is named'
refuses 'TOP=yes: a switch is auto, 1 or 0' TOP=yes config
refuses 'the folder has one name without spaces' BUILD="$dir/b c" config

do_make -n V=1 FRAME_POINTERS=1 "$dir/b/lib/base/bell.o" &&
	grep -q -e -fno-omit-frame-pointer "$dir/log"
ok $? 'frame pointers are kept if they are asked for'
do_make -n V=1 "$dir/b/lib/base/bell.o" &&
	! grep -q -e -fno-omit-frame-pointer "$dir/log"
ok $? 'and not without'

one=$dir/b/lib/base/bell.o
do_make TOP=0 "$one" && grep -q 'CC .*bell' "$dir/log"
ok $? 'an object is built'
do_make TOP=0 "$one" && ! grep -q "CC .*bell" "$dir/log"
ok $? 'and not again'
do_make TOP=0 XXHASH=0 BPF=0 MPI=0 "$one" && ! grep -q "CC .*bell" "$dir/log"
ok $? 'nor when a switch of another part has changed'
do_make "$dir/b/flags/lib-objects" "$dir/b/flags/bpf"
b=$(realpath --relative-to=. "$dir/b")
make -n V=1 CC="${CC:-gcc}" BUILD="$b" "$b/flags/lib-objects" "$b/flags/bpf" \
	>"$dir/log" 2>&1 && ! grep -q printf "$dir/log"
ok $? 'by another path to it nothing of the build folder is made anew' "$dir/log"
do_make -n FRAME_POINTERS=1 "$one" && grep -q "CC. .*bell" "$dir/log"
ok $? 'but when one of its own has'
do_make "$one" && do_make CFLAGS=-O1 "$one" && grep -q 'CC .*bell' "$dir/log"
ok $? 'or when a flag has'

# few HEADER MOST: so many objects of the library, at most, depend on the header.
few() {
	nr_objects=$(find lib -name '*.c' | sed "s|^\(.*\)c\$|$build/\1d|" |
		xargs grep -lsF " $1" | wc -l)
	echo "$nr_objects objects depend on $1, at most $2" >"$dir/log"
	[ "$nr_objects" -gt 0 ] && [ "$nr_objects" -le "$2" ]
}

few lib/base/options.h 40
ok $? 'a new option compiles 40 objects again at most'
few lib/trace/counters.h 60
ok $? 'a new counter 60'

# compiles FACT WORDS NO_WORDS ARGUMENT...: the line that compiles one file of the
# library and one of the tool has these words, and not those
compiles() {
	fact=$1
	words=$2
	no_words=$3
	shift 3
	do_make -n V=1 "$@" "$dir/b/lib/base/clock.o" \
		"$dir/b/tool/tools/main/lkdf.o" &&
		grep -E -e '-c -o .*(clock|lkdf)\.o' "$dir/log" >"$dir/lines" &&
		[ "$(grep -cE -e "$words" "$dir/lines")" -eq 2 ] &&
		! grep -qE -e "$no_words" "$dir/lines"
	ok $? "$fact"
}

mine='-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2'
compiles 'the level of _FORTIFY_SOURCE is 2, whatever the compiler begins with' \
	"$mine " none CFLAGS=-O2
compiles "that of the user's CFLAGS wins" \
	'-O2 -Wp,-D_FORTIFY_SOURCE=3' 'SOURCE=2' \
	CFLAGS='-O2 -Wp,-D_FORTIFY_SOURCE=3'
CPPFLAGS=-D_FORTIFY_SOURCE=3 compiles "and that of the user's CPPFLAGS" \
	'-D_FORTIFY_SOURCE=3' 'SOURCE=2' CFLAGS=-O2
compiles 'there is none without optimization' '-g -O0' FORTIFY CFLAGS="-g -O0"
compiles 'warnings stop the build where WERROR=1 says so' ' -Werror ' none WERROR=1
compiles 'and not where WERROR=0 does' ' -Wextra ' Werror WERROR=0
compiles 'without either, they do in a checkout of git alone' \
	"$([ -e .git ] && echo ' -Werror ' || echo ' -Wextra ')" \
	"$([ -e .git ] && echo none || echo Werror)"
for flags in '-O2 -Wp,-D_FORTIFY_SOURCE=3' -O0; do
	do_make WERROR=1 CFLAGS="$flags" "$dir/b/lib/base/clock.o"
	ok $? "CFLAGS=\"$flags\" compiles without a warning"
	rm -rf "$dir/b/lib"
done

# clang 17 and later are such compilers.
cat >"$dir/cc" <<'END'
#!/bin/sh
[ "$1" != -print-multiarch ] && exec gcc "$@"
END
chmod +x "$dir/cc"
make CC="$dir/cc" BUILD="$dir/b" -n V=1 "$dir/b/bpf/slots.bpf.o" >"$dir/log" 2>&1 &&
	grep -q ' /usr/include/[a-z0-9_]*-linux-gnu ' "$dir/log"
ok $? "BPF programs find the machine's headers with a compiler that does not name them"

env -u CC make BUILD="$dir/b" -n V=1 URING=0 CROSS_COMPILE=none- \
	"$dir/b/liblkdf.a" \
	"$dir/b/liblkdf.so.$(sed -n 's/^VERSION := //p' Makefile)" \
	>"$dir/log" 2>&1
for tool in gcc ld objcopy ar; do
	grep -q "^ *none-$tool " "$dir/log"
	ok $? "CROSS_COMPILE names $tool"
done
grep -qE '^ *(gcc|cc|ld|objcopy|ar) ' "$dir/log"
[ $? -eq 1 ]
ok $? 'no other tool is called'
echo "1..$nr"
exit "$failed"
