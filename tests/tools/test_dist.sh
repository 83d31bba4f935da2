#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# make dist packs the same bytes in the tree and, without git, in the tree that
# was unpacked, whatever a build, an editor or Python has left there.
set -u
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
unset MAKEFLAGS MFLAGS MAKELEVEL BUILD PYTHONDONTWRITEBYTECODE
GIT_CEILING_DIRECTORIES=$dir
export GIT_CEILING_DIRECTORIES

make -s dist BUILD="$dir/first" >"$dir/log" 2>&1
ok $? "the tree is packed"
tar -C "$dir" -xzf "$dir"/first/lkdf-*.tar.gz
cd "$dir"/lkdf-* || exit 1
left() {
	mkdir -p build/lib build-o3 .gpu
	touch build/lib/a.o build-o3/a.o .gpu/pack compile_commands.json
	python3 -m compileall -q tests/lint tests/api/report
}
if command -v python3 >/dev/null; then
	left
	[ -d tests/lint/__pycache__ ]
	ok $? "a build and Python leave files in the tree"
fi
make -s dist BUILD="$dir/second" >"$dir/log" 2>&1
ok $? "the unpacked tree is packed without git"
cmp "$dir"/first/lkdf-*.tar.gz "$dir"/second/lkdf-*.tar.gz >"$dir/log" 2>&1
ok $? "both have the same bytes"
if command -v git >/dev/null; then
	tests/lint/files.sh >"$dir/without"
	git -c init.defaultBranch=main init -q . && tests/lint/files.sh >"$dir/with"
	diff "$dir/without" "$dir/with" >"$dir/log"
	ok $? "files.sh names the same files with git"
fi
echo "1..$nr"
exit "$failed"
