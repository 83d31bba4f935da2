#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The lkdf command as a person and as a script meet it: output, JSON, exit
# status.
set -u
lkdf=${BUILD:-build}/lkdf
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
nr=0
failed=0

say() {
	nr=$((nr + 1))
	if [ "$1" = 0 ]; then
		echo "ok $nr - $2"
	else
		echo "not ok $nr - $2"
		sed 's/^/# /' "$dir/out" "$dir/err"
		failed=1
	fi
}

# try STATUS TEXT COMMAND...
try() {
	want=$1
	what=$2
	shift 2
	"$@" >"$dir/out" 2>"$dir/err"
	rc=$?
	[ "$rc" -eq "$want" ]
	say $? "$what: exit status $want"
}

holds() {
	grep -q -e "$1" "$dir/out" "$dir/err"
	say $? "it says $1"
}

try 0 "help" "$lkdf" --help
holds 'usage: lkdf VERB'
try 0 "version" "$lkdf" --version
try 2 "an unknown verb" "$lkdf" bnch
holds 'lkdf bench'
try 2 "an unknown option" "$lkdf" topo --jsn
for verb in topo doctor bench trace; do
	try 0 "$verb --help" "$lkdf" "$verb" --help
done

try 0 "topo" "$lkdf" topo
holds 'node 0'
try 0 "topo of a made-up machine" "$lkdf" topo --synthetic \
	"numa:2 core:4 distances:10,21,21,10"
holds '2 nodes, 8 cores'
holds '21   10'
try 2 "topo of no machine" "$lkdf" topo --synthetic "nonsense:2"
try 2 "topo of an impossible CPU" "$lkdf" topo --cpus 4095
holds 4095

# Doctor's findings depend on the machine: 0 or 1, never a crash.
"$lkdf" doctor >"$dir/out" 2>"$dir/err"
[ $? -le 1 ]
say $? "doctor looks at this machine"
holds 'failures'

if command -v python3 >/dev/null; then
	for verb in topo doctor; do
		"$lkdf" "$verb" --json >"$dir/out" 2>"$dir/err"
		python3 -m json.tool <"$dir/out" >/dev/null 2>>"$dir/err"
		say $? "$verb --json is JSON"
	done
else
	nr=$((nr + 1))
	echo "ok $nr - --json is JSON # SKIP no python3"
fi
echo "1..$nr"
exit $failed
