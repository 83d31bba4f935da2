#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# This machine, programs with something to find, and what lkdf report says of each:
#
#	tour.sh BUILD [FOLDER]
#
# Where bytes lie comes first: on a machine with several nodes a program is run
# that leaves all of them on one node, and then again with the bytes of each task
# beside it. A machine with one node has a recording instead. Pages and recordings
# go to FOLDER, BUILD/tour if not told. Where there is a desktop the pages are
# opened; elsewhere their names are printed.
set -u
build=${1:?usage: tour.sh BUILD [FOLDER]}
out=${2:-$build/tour}
lkdf=$build/lkdf
sums=$build/examples/guide/sums
# A made-up machine has no bytes on its nodes.
unset LKDF_TOPOLOGY
mkdir -p "$out" || exit 1

# show NAME TITLE: the report of a recording
show() {
	printf '\n%s\n' "$2"
	"$lkdf" report "$out/$1.lkdf" --html "$out/$1.html" >"$out/$1.txt" ||
		exit 1
	"$(dirname "$0")/first.sh" "$out/$1.txt" 3
	sed -n '/^  used by/,/^$/p' "$out/$1.txt"
	echo "  page: $out/$1.html"
	if [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ] &&
		command -v xdg-open >/dev/null; then
		xdg-open "$out/$1.html" >/dev/null 2>&1 &
	fi
}

# record NAME COMMAND...: anew, as recordings are never written over. What the
# program prints is shown if it fails.
record() {
	name=$1
	shift
	rm -f "$out/$name.lkdf"
	LKDF_TRACE=$out/$name.lkdf "$@" >"$out/$name.log" 2>&1 && return
	cat "$out/$name.log" >&2
	exit 1
}

show_nodes() {
	record remote env LKDF_PLACEMENT=no "$sums" main
	show remote "1. An array on one of $1 nodes, and tasks anywhere: what other nodes
   take is beside the diagonal"
	record spread "$sums" spread
	show spread '   The same, filled by lkdf_first_touch(), and tasks beside their bytes'
}

# A clock that is made up, as this takes a machine with four nodes.
show_recorded() {
	echo
	echo '1. This machine has one node: a recording of four has the place of bytes.'
	if ! command -v python3 >/dev/null; then
		echo '   It is left out: it needs python3.'
		return
	fi
	PYTHONDONTWRITEBYTECODE=1 python3 tests/api/report/planted.py remote \
		"$out/remote.lkdf" || exit 1
	show remote '   A buffer on the wrong node of four'
}

echo 'This machine, as a runtime sees it'
"$lkdf" topo || exit 1
nodes=$("$lkdf" topo | sed -n '1s/^Machine.* \([0-9]*\) nodes,.*/\1/p')
if [ "${nodes:-1}" -gt 1 ]; then
	show_nodes "$nodes"
else
	show_recorded
fi

record cholesky env LKDF_TOPOLOGY='numa:2 core:2' LKDF_WORKERS=4 \
	"$build/examples/cholesky"
show cholesky '2. Cholesky on a topology of two nodes that is made up'

record lock env LKDF_WORKERS=2 "$build/examples/convoy" --lock held --seconds 1
show lock '3. Tasks that all take one lock'
