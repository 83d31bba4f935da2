#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The pictures of the guides: pictures.sh BUILD FOLDER
#
# Those of findings.rst are findings.sh's. The others are of programs that run in a
# machine of four nodes, which tests/vm/vm.sh boots: examples/guide/sums main and
# spread, and examples/convoy. The recordings come out on the machine's serial line.
set -u
build=${1:?usage: pictures.sh BUILD FOLDER}
to=${2:?usage: pictures.sh BUILD FOLDER}
here=$(dirname "$0")
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT

cat >"$dir/record.sh" <<'END'
# record NAME COMMAND...
record() {
	name=$1
	shift
	LKDF_TRACE=/tmp/$name.lkdf "$@" >/dev/null 2>&1
	echo "RECORDING $name"
	base64 "/tmp/$name.lkdf"
	echo "RECORDED"
}
record main ./sums main
record spread ./sums spread
export LKDF_WORKERS=4
record convoy ./convoy --lock held --seconds 3
END
tests/vm/vm.sh --nodes 2/384,2/384,2/384,2/384 -- 'sh record.sh' \
	"$build/lkdf" "$build/examples/guide/sums" "$build/examples/convoy" \
	"$dir/record.sh" >"$dir/said" || {
	cat "$dir/said"
	exit 1
}
for name in main spread convoy; do
	sed -n "/^# RECORDING $name\$/,/^# RECORDED\$/p" "$dir/said" |
		sed '1d;$d;s/^# //' | base64 -d >"$dir/$name.lkdf"
done
nodes='Bytes: who uses, whose they are'
"$here/picture.sh" "$build" "$to/nodes-main.png" "$dir/main.lkdf" 520,520 \
	"$nodes" &&
	"$here/picture.sh" "$build" "$to/nodes-spread.png" "$dir/spread.lkdf" \
		520,520 "$nodes" &&
	"$here/picture.sh" "$build" "$to/convoy.png" "$dir/convoy.lkdf" \
		1100,700 'What costs most' Timeline || exit 1
"$here/findings.sh" "$build" "$to"
