#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Prints the symbols that lib/lkdf.map makes global, sorted. Wildcards are
# refused there: they would export what nobody has decided.
set -u
[ -f lib/lkdf.map ] || exit 0
names=$(tr '\n' ' ' <lib/lkdf.map | sed 's|/\*[^*]*\*/||g; s/[{};:]/\n&\n/g' | awk '
{ gsub(/[ \t]/, "") }
$0 == "global" || $0 == "local" { scope = $0; next }
$0 == "{" { inside = 1; scope = "global"; next }
$0 == "}" { inside = 0; next }
!inside || scope != "global" || $0 !~ /[A-Za-z*]/ { next }
/[*?]/ {
	print "lib/lkdf.map:1: name each function, no wildcard " $0 > "/dev/stderr"
	bad = 1
	next
}
{ print }
END { exit bad }') || exit 1
printf '%s\n' "$names" | sort -u | sed '/^$/d'
