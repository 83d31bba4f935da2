#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A program that was built with the last release runs with the library of today:
# abidiff compares the two. ABI_REF=COMMIT compares with another commit. The first
# facts show that the comparison sees what it has to see.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/../tools/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS

# keeps OLD NEW: bits 1 and 2 of the status are failures of abidiff, bit 4 is a
# change that breaks programs; a change of other sorts is bit 3.
keeps() {
	abidiff --no-added-syms "$1" "$2" >"$dir/log" 2>&1
	[ $(($? & 11)) -eq 0 ]
}

# tiny NAME TEXT: a library of that text
tiny() {
	echo "$2" | "${CC:-gcc}" -g -shared -fPIC -x c - -o "$dir/$1.so"
}

if ! command -v abidiff >/dev/null; then
	echo '1..0 # SKIP abidiff is not installed: .ci/deps more'
	exit 0
fi
tiny old 'struct s; int f(struct s *s, int a); int f(struct s *s, int a) { return !s + a; }'
tiny more 'struct s; int f(struct s *s, int a) { return !s + a; } int g(void) { return 1; }'
tiny less 'int g(void) { return 1; }'
keeps "$dir/old.so" "$dir/more.so"
ok $? 'a function more breaks nothing'
! keeps "$dir/old.so" "$dir/less.so"
ok $? 'a function less does'
version=$(sed -n 's/^VERSION := //p' Makefile)
ref=${ABI_REF:-$(git describe --tags --abbrev=0 2>/dev/null)}
fact='programs of the last release run with this library'
if [ -z "$ref" ]; then
	nr=$((nr + 1))
	echo "ok $nr - $fact # SKIP there is no tag yet"
else
	old=$(git show "$ref:Makefile" | sed -n 's/^VERSION := //p')
	mkdir "$dir/src" && git archive "$ref" | tar -C "$dir/src" -x &&
		make -s -C "$dir/src" -j"$(nproc)" BUILD="$dir/b" \
			"$dir/b/liblkdf.so.$old" >"$dir/log" 2>&1 &&
		keeps "$dir/b/liblkdf.so.$old" "$build/liblkdf.so.$version"
	ok $? "$fact"
fi
echo "1..$nr"
exit $((failed != 0))
