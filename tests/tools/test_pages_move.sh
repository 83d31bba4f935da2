#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf pages --move on the nodes that are here, and all that it refuses. Pages
# that do move are in tests/vm/test_pages_move.c, which has nodes for it.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
lkdf=$build/lkdf
sleep 600 &
pid=$!
convoy=
trap 'kill $pid $convoy 2>/dev/null; rm -rf "$dir"' EXIT

# move RC PATTERN WORDS...: it ends with RC and says such a line
move() {
	want=$1
	say=$2
	shift 2
	"$lkdf" pages -p "$@" >"$dir/log" 2>&1
	[ $? -eq "$want" ] && grep -qE "$say" "$dir/log"
}

node=$(sed 's/[-,].*//' /sys/devices/system/node/has_memory)
nodes=$(tr -d '\n' </sys/devices/system/node/has_memory)
if [ "$nodes" = "$node" ]; then
	move 0 '^moved 0.00 MiB to node' $pid --move "$node"
	ok $? 'with one node all pages are there'
	grep -qE ' 0\.0*[1-9].* MiB were there|[1-9].* MiB were there' \
		"$dir/log"
	ok $? 'and are counted'
else
	skip 'with one node all pages are there' "nodes $nodes"
fi
move 0 '^would move' $pid --move "$node" --dry-run
ok $? 'a dry run says what it would do'
move 0 '"dry_run": true' $pid --move "$node" --dry-run --json
ok $? 'also in JSON'
python3 - "$dir/log" >"$dir/why" 2>&1 <<'EOT'
import json, sys
p = json.load(open(sys.argv[1]))
assert p["schema"] == "lkdf/pages_move/1"
assert p["moved"] == sum(f["bytes"] for f in p["from"])
assert p["refused"] == sum(w["bytes"] for w in p["why"]) == 0
assert p["there"] + p["moved"] > 0
EOT
ok $? 'which adds up' "$dir/why"

move 2 'the number of a node' $pid --move x
ok $? 'no number is refused'
move 2 'there is no node 1023' $pid --move 1023
ok $? 'so is a node that is not there'
move 2 'there is no node 1023' $pid --move 1023 --dry-run
ok $? 'in a dry run, too'
move 2 'go with --move' $pid --dry-run
ok $? 'a dry run of nothing'
move 2 'label, or ranges' $pid --move "$node" --label x 0+4K
ok $? 'a label and a range'
move 5 'nothing is mapped' $pid --move "$node" 0+4K
ok $? 'where nothing is mapped'
move 5 'no block with the label "x"' $pid --move "$node" --label x
ok $? 'a process without such a label'
move 5 'No such process' 2147483647 --move "$node"
ok $? 'no process'

LKDF_WORKERS=1 "$build/examples/convoy" --lock block --seconds 600 \
	>/dev/null 2>&1 &
convoy=$!
await move 0 'moved' $convoy --move "$node" --label 'lock table' --json
python3 - "$dir/log" >"$dir/why" 2>&1 <<'EOT'
import json, sys
p = json.load(open(sys.argv[1]))
assert p["there"] + p["moved"] + p["absent"] == 4096, p
EOT
ok $? 'the page of a block with a label, and no other' "$dir/why"
kill -0 $convoy
ok $? 'its program goes on'

if [ "$(id -u)" = 0 ] && command -v setpriv >/dev/null; then
	cp "$lkdf" "$build/liblkdf.so.0" "$dir"
	chmod -R a+rX "$dir"
	setpriv --reuid 65534 --regid 65534 --clear-groups "$dir/lkdf" \
		pages -p $pid --move "$node" >"$dir/log" 2>&1
	[ $? -eq 3 ] && grep -q "$pid (sleep), of user root: " "$dir/log" &&
		grep -q 'needs: .*CAP_SYS_NICE' "$dir/log"
	ok $? "another user's process is refused by name"
else
	skip "another user's process is refused by name" 'needs root'
fi
echo "1..$nr"
exit "$failed"
