#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# All that a machine with a card is to run fits into one folder, runs there, and
# says in one table that there is no card.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

# says PATTERN FACT: a line of the table
says() {
	grep -Eq "$1" "$dir/table"
	ok $? "$2" "$dir/table"
}

LKDF_GPU_TESTS=kernel_ports BUILD=$build tests/gpu/pack.sh "$dir/gpu" \
	>"$dir/log" 2>&1
ok $? 'the folder is packed' "$dir/log"
if grep -q 'NVRTC was not there' "$dir/gpu/kernels/texts"; then
	skip 'texts for sm_90' 'NVRTC is not there'
else
	grep -Eq '^[1-9][0-9]* texts, 0 not compiled' "$dir/gpu/kernels/texts"
	ok $? 'NVRTC compiles its texts for sm_90' "$dir/gpu/kernels/texts"
fi
LKDF_GPU_TESTS=kernel_ports LKDF_GPU_BENCHES=1 "$dir/gpu/on_device.sh" "$dir/out" card \
	conformance cuda opencl bench memcheck >"$dir/table" 2>"$dir/log"
ok $? 'its tests run on the driver for tests'
says '^part +card +result$' 'the table has a head'
says '^conformance +none \(test library\) +284 lines, 6 differ' \
	'the column "card" says that there is none'
says '^tests, cuda .* 0 not ok, 0 skipped, of 1 programs 0 ended badly' \
	'tests of devices ran'
says '^bench device, 1 .* [0-9]+ bars held, [0-9]+ missed' \
	'lkdf bench device ran'
grep -q '^cuda/overlap/32M .* raw ' "$dir/out/bench.txt"
ok $? 'with figures of lkdf and of the driver alone' "$dir/out/bench.txt"
says '^memcheck .* skipped: no card' 'what needs a card is skipped'
cmp -s "$dir/table" "$dir/out/table.txt"
ok $? 'the folder of results has the table' "$dir/out/table.txt"
[ "$(find "$dir/out" -type f | wc -l)" -le 8 ]
ok $? 'and eight files at most'
rm "$dir/gpu/build/tests/cuda/libnvrtc.so"
LKDF_GPU_TESTS='kernel_[pw]' "$dir/gpu/on_device.sh" "$dir/out2" cuda \
	>"$dir/table" 2>"$dir/log"
ok $? 'without NVRTC the kernel cache serves' "$dir/table"
says '^tests, cuda .* 0 not ok, .* of 1 programs 0 ended badly, 1 skipped: no' \
	'and what needs another text is skipped'
grep -q '^#### test_kernel_wide needs a text: skipped' "$dir/out2/cuda.txt"
ok $? 'by its name' "$dir/out2/cuda.txt"
says '^oracle, cuda .* of 1 programs 0 ended badly' 'the oracle ran'
# The runtime that doctor opens first loads the driver by these variables.
LKDF_DEVICES=cuda LKDF_CUDA_LIBRARY="$build/tests/cuda/libcuda.so.1" \
	"$build/lkdf" doctor >"$dir/log" 2>&1
grep -q '^ok    cuda: 1 device' "$dir/log"
ok $? 'lkdf doctor finds the card with devices=cuda in the environment' \
	"$dir/log"
echo "1..$nr"
exit $failed
