#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# turn.sh DIGIT WITHOUT WORD...: prints the word whose turn it is. What a run of
# the tests does only a part of goes round by commit: the DIGITth hex digit of
# HEAD modulo the number of words. Without git the word is WITHOUT.
digit=$1
without=$2
shift 2
commit=$(git -C "$(dirname "$0")/.." rev-parse --verify -q HEAD 2>/dev/null)
hex=$(printf '%s' "$commit" | cut -c "$digit")
if [ -z "$hex" ]; then
	echo "$without"
	exit
fi
shift $((0x$hex % $#))
echo "$1"
