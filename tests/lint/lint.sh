#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Runs every check of this folder over the tree and speaks TAP. A check prints
# file:line and what to do and exits 1; 77 means skipped, its last line is the
# reason. It builds and installs nothing. With arguments only the named checks
# run.
set -u
cd "$(dirname "$0")/../.." || exit 1
export PYTHONDONTWRITEBYTECODE=1 LC_ALL=C.UTF-8

# Name of the script and the fact that it states.
checks='
ranks.sh	includes in lib go down the ranks, own header first
declared.py	functions of lib are declared in the folder that defines them
foreign.sh	each foreign library is used in one place only
libraries.sh	security.rst has a row for each foreign library
public.sh	tools and API tests include public headers only
headers.sh	each public header compiles alone in C and C++
symbols.sh	headers and lkdf.map name the same functions
exported.sh	the library exports what lkdf.map names
kerneldoc.py	public functions have complete kernel-doc comments
calls.py	lib has no fences, raw atomics, printing or exit
globals.py	lib has no mutable globals
tags.py	no struct of lib and tools is named as one of the system
labels.py	ordered accesses are labelled, labels have partners
names.sh	names of files are plain, the top of the tree is as listed
spdx.sh	files state their licence
spell.sh	codespell finds nothing
format.sh	clang-format changes nothing
space.sh	lines have no white space at the end
shell.sh	shellcheck finds nothing
watched.py	a test that hangs says where
refs.py	comments name files and functions that are there
shape.py	functions and files are small
words.sh	no words of unfinished work, no machine paths
options.py	options and counters have help and are documented
mechanisms.py	each mechanism of workers is a whole row of one table
verbs.py	verbs of the tool stand in its pages, scripts ask the tool for them
schemas.py	schemas of --json allow what the code writes, and nothing else
subjects.py	sentences of sources and pages have nouns as subjects
glossary.py	glossary.rst has the terms of the pages, pages link to it
ratios.py	README quotes figures.rst as it is
rst.py	docutils reads each page without a warning, links lead somewhere
'
out=$(mktemp)
trap 'rm -f "$out"' EXIT
nr=0
failed=0
while IFS='	' read -r check fact; do
	[ -n "$check" ] || continue
	case " ${*:-$check} " in
	*" $check "*) ;;
	*) continue ;;
	esac
	nr=$((nr + 1))
	if [ "${check%.py}" != "$check" ] && ! command -v python3 >/dev/null; then
		echo "ok $nr - $fact # SKIP python3 is not installed"
		continue
	fi
	"tests/lint/$check" >"$out" 2>&1
	case $? in
	0) echo "ok $nr - $fact" ;;
	77)
		echo "ok $nr - $fact # SKIP $(tail -n 1 "$out")"
		continue
		;;
	*)
		echo "not ok $nr - $fact ($check)"
		failed=$((failed + 1))
		;;
	esac
	sed 's/^/# /' "$out"
done <<END
$checks
END
echo "1..$nr"
[ "$failed" -eq 0 ]
