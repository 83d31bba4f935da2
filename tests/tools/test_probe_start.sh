#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf probe started several times at once, over maps of somebody else, for
# a group: one of them runs, and who is told to do something can do that.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
pins=$dir/new/bpf
rounds=6
at_once=4

"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1 ||
	probe_absent 'it starts'
trap '"$lkdf" probe stop --dir "$pins" >/dev/null 2>&1; rm -rf "$dir"' EXIT
chmod 755 "$dir"
"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1

# Several at once. Nothing is there, not even the directory above it.
bad=0
unseen=0
left=0
i=0
while [ $i -lt $rounds ]; do
	rm -rf "$dir/new"
	j=0
	while [ $j -lt $at_once ]; do
		"$lkdf" probe start --dir "$pins" >"$dir/log.$j" 2>&1 &
		j=$((j + 1))
	done
	wait
	if [ "$(cat "$dir"/log.* | grep -c '^runs in')" -ne 1 ] ||
		[ "$(cat "$dir"/log.* | grep -c '^runs already')" -ne \
			$((at_once - 1)) ]; then
		bad=$((bad + 1))
		sed 's/^/# /' "$dir"/log.*
	fi
	"$lkdf" probe status --dir "$pins" >"$dir/log" 2>&1 ||
		unseen=$((unseen + 1))
	"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
	[ -z "$(ls -A "$dir/new")" ] || left=$((left + 1))
	i=$((i + 1))
done
[ $bad -eq 0 ]
ok $? "$at_once starts at once: one runs, the others say so"
[ $unseen -eq 0 ]
ok $? 'and it is there then'
[ $left -eq 0 ]
ok $? 'stopped, nothing is left'

# A test that is killed leaves its programs to the next one that starts some.
sleep 0 &
wait $!
mkdir "$dir/dead" "$dir/alive"
echo $! >"$dir/dead/probe.pid"
echo $$ >"$dir/alive/probe.pid"
for whose in dead alive; do
	"$lkdf" probe start --dir "$dir/$whose/bpf" >"$dir/log" 2>&1
done
probe_sweep
[ ! -e "$dir/dead" ] && [ -e "$dir/alive/bpf/head" ]
ok $? 'probes of a test that was killed are taken away, no others'
"$lkdf" probe stop --dir "$dir/alive/bpf" >"$dir/log" 2>&1

# A map of somebody else under our name: what is advised works.
if command -v bpftool >/dev/null; then
	"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
	rm "$pins/slots"
	bpftool map create "$pins/slots" type array key 4 value 8 entries 1 \
		name other flags 0x400 2>"$dir/log"
	for verb in start status; do
		"$lkdf" probe $verb --dir "$pins" >"$dir/log" 2>&1
		[ $? -eq 4 ] && grep -q 'try: *lkdf probe stop' "$dir/log"
		ok $? "$verb: a map of somebody else, and to stop it" "$dir/log"
	done
	"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1 &&
		"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
	ok $? 'which mends it' "$dir/log"

	# A head of another version: its magic, and the number 99.
	rm "$pins/head"
	bpftool map create "$pins/head" type array key 4 value 128 entries 1 \
		name head flags 0x400 2>"$dir/log"
	# shellcheck disable=SC2046
	bpftool map update pinned "$pins/head" key 0 0 0 0 value \
		$(printf lkdfprob | od -An -tu1) 99 0 \
		$(printf '0 %.0s' $(seq 118)) 2>"$dir/log"
	ok $? 'a head of another version' "$dir/log"
	for verb in start status; do
		"$lkdf" probe $verb --dir "$pins" >"$dir/log" 2>&1
		[ $? -eq 4 ] && grep -q 'version 99, .* 1$' "$dir/log" &&
			grep -q 'try: *lkdf probe stop' "$dir/log"
		ok $? "$verb: it is told, and to stop it" "$dir/log"
	done
	LKDF_PROBE=$pins "$lkdf" doctor >"$dir/log" 2>&1
	grep -A 1 'probe: .*version 99' "$dir/log" | grep -q 'fix: .*probe stop'
	ok $? 'doctor, too'
	"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1 &&
		"$lkdf" probe start --dir "$pins" >"$dir/log" 2>&1
	ok $? 'which mends it' "$dir/log"
	"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
else
	skip 'a map of somebody else' 'there is no bpftool'
fi

# doctor_as GID PATTERN: what it advises somebody of that group
doctor_as() {
	LKDF_PROBE=$pins setpriv --reuid=65534 --regid="$1" --clear-groups \
		"$lkdf" doctor >"$dir/log" 2>&1
	grep -A 1 'probe: ' "$dir/log" | grep -q "$2"
}

"$lkdf" probe start --dir "$pins" --group nogroup >"$dir/log" 2>&1
doctor_as 65533 'fix: usermod -aG nogroup '
ok $? 'doctor names the group of the pins' "$dir/log"
doctor_as 65534 "probe: runs in $pins"
ok $? 'a member needs nothing' "$dir/log"
setpriv --reuid=65534 --regid=65533 --clear-groups \
	"$lkdf" probe status --dir "$pins" >"$dir/log" 2>&1
[ $? -eq 3 ] && grep -q 'group nogroup' "$dir/log"
ok $? 'status names it, too' "$dir/log"
"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
"$lkdf" probe start --dir "$pins" --group 54321 >"$dir/log" 2>&1
doctor_as 65534 'usermod -aG 54321 '
ok $? 'a group without a name: its number' "$dir/log"
"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
"$lkdf" probe start --dir "$pins" --group root >"$dir/log" 2>&1
doctor_as 65534 'start --group GROUP'
ok $? "root's: to start it for a group" "$dir/log"

# Of one user, and of different groups: links in /proc may not be read.
command=$build/examples/convoy
LKDF_WORKERS=1 setpriv --reuid=65534 --regid=65534 --clear-groups \
	"$command" --lock none --seconds 30 >/dev/null 2>&1 &
pid=$!
await grep -qs lkdf:stats /proc/$pid/maps
for verb in futex stat pages; do
	setpriv --reuid=65534 --regid=65533 --clear-groups \
		"$lkdf" $verb -p $pid >"$dir/log" 2>&1
	[ $? -eq 3 ]
	ok $? "lkdf $verb of the same user's, another group: not permitted" \
		"$dir/log"
done
kill $pid
wait $pid 2>/dev/null
echo "1..$nr"
exit "$failed"
