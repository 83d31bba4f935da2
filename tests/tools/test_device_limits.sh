#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# "lkdf device" and "lkdf doctor" say why a card of CUDA is no device, and what a
# driver lacks. On the driver for tests.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
lkdf=$build/lkdf
LKDF_CUDA_LIBRARY=$build/tests/cuda/libcuda.so.1
export LKDF_CUDA_LIBRARY
[ -f "$LKDF_CUDA_LIBRARY" ] || {
	echo '1..0 # SKIP the driver for tests is not built'
	exit 0
}

# says WORD PART: both verbs, on a driver like that
says() {
	FAKE_CUDA_LIKE=$1 "$lkdf" device -v --options devices=cuda \
		>"$dir/log" 2>&1
	grep -q "$2" "$dir/log"
	ok $? "like $1: lkdf device says \"$2\""
	FAKE_CUDA_LIKE=$1 "$lkdf" doctor >"$dir/log" 2>&1
	grep -q "$2" "$dir/log"
	ok $? "like $1: lkdf doctor says \"$2\""
}

says '' 'test library'
says old 'one of CUDA 12.2: kernels of sealed graphs are launched one by one'
says no_words 'its streams write no words'
says prohibited 'its compute mode is prohibited'
echo "1..$nr"
[ "$failed" -eq 0 ]
