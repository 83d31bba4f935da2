#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Three programs with something to find, and what lkdf report says of each:
#
#	tour.sh BUILD [FOLDER]
#
# Pages and recordings go to FOLDER, BUILD/tour if not told. Where there is a desktop the pages are
# opened; elsewhere their names are printed.
set -u
build=${1:?usage: tour.sh BUILD [FOLDER]}
out=${2:-$build/tour}
lkdf=$build/lkdf
mkdir -p "$out" || exit 1

# tell NAME TITLE: the report of a recording
tell() {
	printf '\n%s\n' "$2"
	"$lkdf" report "$out/$1.lkdf" --html "$out/$1.html" >"$out/$1.txt" ||
		exit 1
	"$(dirname "$0")/first.sh" "$out/$1.txt" 3
	echo "  page: $out/$1.html"
	if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] &&
		command -v xdg-open >/dev/null; then
		xdg-open "$out/$1.html" >/dev/null 2>&1 &
	fi
}

LKDF_TRACE=$out/cholesky.lkdf LKDF_TOPOLOGY='numa:2 core:2' LKDF_WORKERS=4 \
	"$build/examples/cholesky" >/dev/null || exit 1
tell cholesky '1. Cholesky on a topology of two nodes that is made up'

if command -v python3 >/dev/null; then
	PYTHONDONTWRITEBYTECODE=1 python3 tests/api/report/planted.py remote \
		"$out/remote.lkdf" || exit 1
	tell remote '2. A buffer on the wrong node of four (a recording of a clock
   that is made up, as this takes a machine with four nodes)'
else
	printf '\n2. left out: a buffer on the wrong node needs python3\n'
fi

LKDF_TRACE=$out/lock.lkdf LKDF_WORKERS=2 \
	"$build/examples/convoy" --lock held --seconds 1 >/dev/null || exit 1
tell lock '3. Tasks that all take one lock'
