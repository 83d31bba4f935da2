#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Makes Documentation/demo.lkdf anew, and the lines of README that show its report:
#
#	demo.sh BUILD [RECORDING README]
#
# It records examples/guide/offers with two workers until the recording has all facts,
# its only finding is the program's mistake, and the program without the mistake is
# as fast as the replay says, a tenth more or less. It prints both times.
set -u
build=${1:?usage: demo.sh BUILD [RECORDING README]}
recording=${2:-Documentation/demo.lkdf}
page=${3:-README.md}
shown='build/lkdf report Documentation/demo.lkdf'
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
unset LKDF_TOPOLOGY LKDF_TRACE

# record NAME ARGUMENT...: offers with these arguments, and the report
record() {
	name=$1
	shift
	rm -f "$dir/$name.lkdf"
	LKDF_WORKERS=2 LKDF_TRACE=$dir/$name.lkdf "$build/examples/guide/offers" \
		"$@" >"$dir/$name.log" &&
		"$build/lkdf" report -q "$dir/$name.lkdf" >"$dir/$name.txt"
}

# milliseconds NAME: the first number of its report, with a digit less
milliseconds() {
	sed -n '1s/^\([0-9]*\)\(\.[0-9]*\)\{0,1\} ms, .*/\1/p' "$dir/$1.txt"
}

# What the replay predicts is measured.
is_predicted() {
	less=$(sed -n 's/^  *a replay with that takes \([0-9]*\) % less$/\1/p' \
		"$dir/demo.txt")
	[ -n "$less" ] || return
	slow=$(milliseconds demo)
	fast=$(milliseconds read)
	off=$((100 - less - 100 * ${fast:-0} / ${slow:-1}))
	[ "$off" -ge -10 ] && [ "$off" -le 10 ]
}

# Other programs that took a CPU would be a finding, too.
is_good() {
	record demo && record read read && is_predicted && ! grep -q 'not recorded' "$dir/demo.txt" &&
		grep -q '^  1 .* offer run one after another: RW on prices$' \
			"$dir/demo.txt" &&
		! grep -q '^  2 ' "$dir/demo.txt"
}

left=100
until is_good; do
	left=$((left - 1))
	[ $left -gt 0 ] || {
		echo 'demo.sh: no recording was good: is this machine busy?' >&2
		exit 1
	}
done
cp "$dir/demo.lkdf" "$recording" && chmod 644 "$recording" || exit 1

# The block of README that begins with the command, up to where the finding ends.
sed '/^  *look at /q' "$dir/demo.txt" >"$dir/block"
awk -v shown="\$ $shown" -v block="$dir/block" '
	inside && /^```$/ { inside = 0 }
	inside { next }
	{ print }
	$0 == shown {
		inside = 1
		while ((getline line < block) > 0)
			print line
	}' "$page" >"$dir/page" && cat "$dir/page" >"$page"
for name in demo read; do
	printf '%s: ' $name
	head -n 1 "$dir/$name.txt"
done
