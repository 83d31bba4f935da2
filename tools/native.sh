#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# usage: native.sh FILE...
# True if this machine can start the files: scripts that name their interpreter,
# and ELF files of the same class, order of bytes and machine as our own programs.
# A shell takes anything else for a script and runs its bytes: so a program that
# was built for another machine writes files of any name.
set -u

# The first 20 bytes, in hexadecimal.
head_of() {
	od -An -v -tx1 -N20 "$1" | tr -d ' \n'
}

# What a head says of class, order and machine.
kind_of() {
	printf '%s' "$1" | cut -c 9-12,37-40
}

for file; do
	head=$(head_of "$file") || exit 1
	case $head in
	2321*) continue ;;
	7f454c46*) [ "$(kind_of "$head")" != \
		"$(kind_of "$(head_of /proc/self/exe)")" ] || continue ;;
	*)
		echo "$file is neither a program nor a script with #!" >&2
		exit 1
		;;
	esac
	echo "$file is for another machine" >&2
	exit 1
done
