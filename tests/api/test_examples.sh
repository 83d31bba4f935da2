#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The larger examples: the compute engine in C and in C++. Each compiles
# without a warning and checks its own result; here it is looked at with
# different sizes and numbers of workers, and that it refuses bad usage.
# shellcheck source=tests/api/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/api/example.sh
. tests/api/example.sh
examples=Documentation/examples

# try ARGUMENT...: what it prints is in $dir/got, its status is $rc
try() {
	timeout -k 5 60 "$dir/program" "$@" >"$dir/got" 2>&1
	rc=$?
}

# prints PATTERN FACT ARGUMENT...: a whole line of it, and status 0
prints() {
	pattern=$1 fact=$2
	shift 2
	try "$@"
	[ "$rc" -eq 0 ] && grep -qxE "$pattern" "$dir/got"
	ok $? "$fact" "$dir/got"
}

# usage_of NAME: help and refusal
usage_of() {
	prints "usage: $1 .*" "$1 --help prints help" --help
	for bad in --nonsense "--n$2 0" "--n$2 99999999999" "--n$2 1x" "--n$2"; do
		# shellcheck disable=SC2086
		try $bad
		[ "$rc" -eq 2 ]
		ok $? "$1 $bad: exit status 2" "$dir/got"
	done
}

compile $examples/engine/engine.c $examples/engine/device.c
ok $? "engine compiles without a warning"
if [ -x "$dir/program" ]; then
	right='[0-9]* pushes, [0-9]* on the device: sum [0-9]*, right'
	prints "82 pushes, 20 on the device: sum [0-9]*, right" \
		"engine pushes 82 functions, its sum is right"
	# y = 1, x = 0; y += 2x: 1; z = 0. x = 1: y = 3, z = 3. x = 2: y = 7
	prints '14 pushes, 3 on the device: sum 17, right' \
		"engine with one element: a sum done by hand" --nr 1 --rounds 3
	prints "$right" "engine with odd sizes" --nr 12345 --rounds 7
	export LKDF_WORKERS=1
	prints "$right" "engine with one worker" --nr 1000 --rounds 200
	export LKDF_WORKERS=4
	prints "$right" "engine with four" --nr 1000 --rounds 200
	unset LKDF_WORKERS
	usage_of engine r
fi

as_it_says $examples/engine/engine_demo.cc

echo "1..$nr"
[ "$failed" -eq 0 ]
