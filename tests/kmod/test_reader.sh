#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The lookup of a word is one load of two bytes and no jump: the compiler's
# output is read, for each compiler that is here. The library's, which knows
# where its words end, is one such load and no call.
set -u
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/load.c" <<'END'
#include "tests/kmod/reader.h"
unsigned lookup(const uint16_t *words, uintptr_t offset, unsigned shift);
unsigned lookup(const uint16_t *words, uintptr_t offset, unsigned shift)
{
	return reader_load(words, offset, shift) & LKDF_BLOCK_NODE;
}
END
cat >"$work/board.c" <<'END'
#include "signal/board.h"
unsigned lookup(const struct board *b, uint32_t index);
unsigned lookup(const struct board *b, uint32_t index)
{
	return board_load(b, index) & LKDF_BLOCK_NODE;
}
END
nr=0 failed=0
code() {
	"$1" -std=c11 -O2 -fcf-protection=none -I. -Ilib -Ilib/include \
		-Ikmod/uapi -S -fno-asynchronous-unwind-tables -o - "$2" |
		grep -E '^[[:space:]]+[a-z]' | grep -v '^[[:space:]]*\.'
}
check() {
	nr=$((nr + 1))
	if [ "$1" = "$2" ]; then
		echo "ok $nr - $3"
	else
		failed=$((failed + 1))
		echo "not ok $nr - $3: $1, expected $2"
		sed 's/^/# /' "$work/code"
	fi
}
if [ "$(uname -m)" != x86_64 ]; then
	echo "1..0 # SKIP knows the instructions of x86_64 only"
	exit 0
fi
for cc in gcc clang; do
	command -v "$cc" >/dev/null || continue
	code "$cc" "$work/load.c" >"$work/code"
	check "$(grep -c '(' "$work/code")" 1 "$cc: one access to memory"
	check "$(grep -cE 'movzw[lq][[:space:]]+\(' "$work/code")" 1 \
		"$cc: it loads two bytes"
	check "$(grep -cE '^[[:space:]]+(j[a-z]+|call)' "$work/code")" 0 \
		"$cc: no jump and no call"
	code "$cc" "$work/board.c" >"$work/code"
	check "$(grep -cE 'movzw[lq][[:space:]]+\(' "$work/code")" 1 \
		"$cc: the board: one load of two bytes"
	check "$(grep -cE '^[[:space:]]+call' "$work/code")" 0 \
		"$cc: the board: no call"
done
echo "1..$nr"
[ "$failed" -eq 0 ]
