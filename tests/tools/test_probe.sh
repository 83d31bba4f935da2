#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf probe: loaded, looked at and taken away, in a directory of its own. What
# is refused says why in one line and leaves nothing behind.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
pins=$dir/a/bpf
user='setpriv --reuid=65534 --regid=65534 --clear-groups'

# probe RC WORDS...: it ends with RC; its words are in $dir/log then.
probe() {
	want=$1
	shift
	"$lkdf" probe "$@" >"$dir/log" 2>&1
	[ $? -eq "$want" ]
}

# number KEY: a number of status --json
number() {
	sed -n "s/^ *\"$1\": \([0-9]*\).*/\1/p" "$dir/json"
}

probe 2
ok $? 'no word is refused'
probe 2 begin
ok $? 'so is another word'
probe 0 --help
ok $? 'there is help'
probe 4 status --dir "$dir"
ok $? 'status: a directory without pins is none'
grep -q 'the probe does not run' "$dir/log"
ok $? 'and the line says so'

"$lkdf" doctor >"$dir/log" 2>&1
grep -q 'probe' "$dir/log"
ok $? 'doctor has a line of it'

if probe 4 stop --dir "$pins" && grep -q 'without BPF' "$dir/log"; then
	skip 'it starts' 'built without BPF programs'
	echo "1..$nr"
	exit "$failed"
fi
if [ -e "$build/bpf/lkdf_probe.bpf.o" ]; then
	! grep -qF "$(pwd -P)/bpf" "$build/bpf/lkdf_probe.bpf.o"
	ok $? 'its programs do not name the folder that they were built in'
fi
probe 2 start --dir "$pins" --hz 5
ok $? 'too slow is refused'
probe 2 start --dir "$pins" --slots 1
ok $? 'too few slots, too'
probe 2 start --dir "$pins" --group no-such-group-here
ok $? 'and a group that is not there'
[ ! -e "$pins" ]
ok $? 'nothing is left of them'
probe 0 start --dir "$pins" --slots 8 --hz 100 || probe_absent 'it starts'
trap '"$lkdf" probe stop --dir "$pins" >/dev/null 2>&1; rm -rf "$dir"' EXIT
ok 0 'it starts'
chmod 755 "$dir" "$dir/a"
probe 0 start --dir "$pins" && grep -q 'runs already' "$dir/log"
ok $? 'once more changes nothing'
probe 2 start --dir "$pins" --hz 250 && grep -q -- '--hz 250: .* 100$' \
	"$dir/log" && grep -q 'try: *lkdf probe stop' "$dir/log"
ok $? 'another --hz is refused by name'
probe 2 start --dir "$pins" --slots 16 && grep -q -- '--slots 16' "$dir/log"
ok $? 'so are other --slots'
probe 0 start --dir "$pins" --hz 100 --slots 8
ok $? 'the same are not'
LKDF_PROBE="$pins" "$lkdf" probe status >"$dir/log" 2>&1 &&
	grep -q "runs in $pins" "$dir/log"
ok $? 'LKDF_PROBE says where it is'
"$lkdf" probe status --dir "$pins" --json --cost >"$dir/json" 2>"$dir/log"
ok $? 'status in JSON'
[ "$(number slots)" = 8 ] && [ "$(number sample_hz)" = 100 ] &&
	grep -q '"switch": true' "$dir/json" &&
	grep -q '"sample": true' "$dir/json" &&
	grep -q '"live": true' "$dir/json"
ok $? 'with both hooks, alive' "$dir/json"

full 'standard output is not complete' status "$lkdf" probe status --dir "$pins"
full 'standard output is not complete' 'status --json' "$lkdf" probe status --json --dir "$pins"

# Costs, by the kernel's own statistics; nobody here is registered.
ns() {
	sed -n "s/.*\"$1\", \"runs\": \([0-9]*\), \"ns\": \([0-9]*\).*/\1 \2/p" \
		"$dir/json" | awk '$1 { print int($2 / $1) }'
}
cost=$(ns lkdf_switch)
if [ -n "$cost" ]; then
	echo "# $cost ns a switch of a thread that is not registered"
else
	echo "# nothing was switched"
fi

# Others: neither look nor change.
# shellcheck disable=SC2086
$user "$lkdf" probe status --dir "$pins" >"$dir/log" 2>&1
[ $? -eq 3 ]
ok $? 'who is not in the group may not look'
# shellcheck disable=SC2086
$user "$lkdf" probe start --dir "$dir/b" >"$dir/log" 2>&1
[ $? -eq 3 ] && grep -q 'needs' "$dir/log"
ok $? 'nor start, and hears what it needs'
[ ! -e "$dir/b" ]
ok $? 'nothing is left of that'
# shellcheck disable=SC2086
$user "$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
[ -e "$pins/head" ]
ok $? 'nor stop'

# A head that was taken away, as a kill in the middle leaves it
rm "$pins/head"
probe 0 start --dir "$pins" --slots 16
ok $? 'what was left of a start does not hinder the next'
"$lkdf" probe status --dir "$pins" --json >"$dir/json"
[ "$(number slots)" = 16 ]
ok $? 'and that is there' "$dir/json"

# A map of somebody else under our name
if command -v bpftool >/dev/null; then
	rm "$pins/slots"
	bpftool map create "$pins/slots" type array key 4 value 8 entries 1 \
		name other flags 0x400 2>"$dir/log"
	probe 4 status --dir "$pins" && grep -q "not the probe's" "$dir/log"
	ok $? 'a map of somebody else is not read'
	probe 4 start --dir "$pins" && grep -q "not the probe's" "$dir/log"
	ok $? 'nor overwritten'
else
	skip 'a map of somebody else is not read' 'there is no bpftool'
fi

probe 0 stop --dir "$pins"
ok $? 'it stops'
[ ! -e "$pins" ]
ok $? 'directory and mount are gone'
probe 0 stop --dir "$pins"
ok $? 'once more changes nothing'
echo "1..$nr"
exit "$failed"
