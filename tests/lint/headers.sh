#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Each public header alone compiles as C and C++ with every compiler there is.
# One compiler that does not know a standard leaves that standard out.
set -u
headers=$(tests/lint/files.sh lib/include | grep '\.h$')
[ -n "$headers" ] || exit 0
flags='-fsyntax-only -Wall -Wextra -Werror -pedantic -Ilib/include'
bad=0
seen=0

# one COMPILER LANGUAGE STANDARD
one() {
	command -v "$1" >/dev/null || return 0
	echo | "$1" -fsyntax-only -x "$2" -std="$3" - 2>/dev/null || return 0
	seen=1
	# shellcheck disable=SC2086
	"$1" $flags -x "$2" -std="$3" $headers \
		2>"$log" && return 0
	grep -E '^[^ ]*:[0-9]+:.*(error|warning)' "$log" |
		sed "s/\$/ ($1 -std=$3)/" | head -n 5
	bad=1
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
for std in c11 c17; do
	one gcc c $std
	one clang c $std
done
for std in c++17 c++20; do
	one g++ c++ $std
	one clang++ c++ $std
done
[ "$seen" = 1 ] || {
	echo "no compiler is installed"
	exit 77
}
exit $bad
