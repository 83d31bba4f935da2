#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# README's program is pasted and README's commands are typed, as they stand there,
# into the shells that people have: it installs, compiles, runs and reports.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
echo >"$dir/log"
unset MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES GNUMAKEFLAGS PKG_CONFIG_PATH

[ "$(wc -l <README.md)" -le 165 ]
ok $? "README.md has at most 165 lines"
fenced cpp 1 >"$dir/primes.cc"
sed -n '/^#include/,$p' Documentation/examples/cpp/primes.cc >"$dir/want"
cmp "$dir/primes.cc" "$dir/want" >"$dir/log"
ok $? "README's program is primes.cc"
wanted Documentation/examples/cpp/primes.cc >"$dir/want"
grep -qF "\`$(cat "$dir/want")\`" README.md
ok $? "README says what it prints" "$dir/want"
fenced sh 1 >"$dir/install"
fenced sh 2 >"$dir/commands"

# typed SHELL FILE FOLDER: each line of a file, as at a prompt
typed() {
	(
		cd "$3" || exit
		export HOME="$dir/home" BUILD="$build"
		unset LKDF_TRACE
		{
			echo 'set -e'
			cat "$2"
		} | "$limit" 200 "$1" >"$dir/got" 2>"$dir/log"
	)
}

mkdir "$dir/home" "$dir/own"
typed sh "$dir/install" .
ok $? "README's installation"
for shell in sh bash zsh; do
	if ! command -v "$shell" >/dev/null; then
		skip "README's commands in $shell" "no $shell"
		continue
	fi
	rm -rf "$dir/own" && mkdir "$dir/own" &&
		cp "$dir/primes.cc" "$dir/own" &&
		typed "$shell" "$dir/commands" "$dir/own"
	ok $? "README's commands in $shell"
	grep -qxFf "$dir/want" "$dir/got"
	ok $? "the program prints what README says" "$dir/got"
	grep -q '^What costs most' "$dir/got" &&
		grep -q '^  lkdf_reduce  *[1-9]' "$dir/got" &&
		! grep -q 'record again with' "$dir/got"
	ok $? "its report has the loop" "$dir/got"
done
as_it_says Documentation/examples/cpp/primes.cc
is_judged "README's program"
echo "1..$nr"
exit "$failed"
