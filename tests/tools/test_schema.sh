#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What verbs print with --json is what the schemas say that are installed.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
log=$dir/log
command -v python3 >/dev/null || {
	echo '1..0 # SKIP python3 is not installed'
	exit 0
}

# valid NAME FILE...
valid() {
	schema=Documentation/schema/$1.json
	shift
	python3 tests/tools/schema.py "$schema" "$@" >"$log" 2>&1
}

"$lkdf" topo --json >"$dir/topo.json" && valid topo "$dir/topo.json"
ok $? 'topo is what its schema says'
LKDF_TOPOLOGY='numa:2 l3:1 core:2 pu:1' "$lkdf" topo --json \
	>"$dir/topo.json" && valid topo "$dir/topo.json"
ok $? 'so is one that is made up'
"$lkdf" doctor --json >"$dir/doctor.json" 2>"$log"
valid doctor "$dir/doctor.json"
ok $? 'doctor'
for name in $(python3 tests/api/report/planted.py --list); do
	python3 tests/api/report/planted.py "$name" "$dir/a.lkdf" &&
		"$lkdf" report --json "$dir/a.lkdf" >"$dir/$name.report"
done 2>"$log"
valid report "$dir"/*.report
ok $? 'report, of all recordings of tests'
for name in alone together_memory; do
	python3 tests/api/report/tried.py "$name" "$dir/$name.lkdf"
done
cat >"$dir/command" <<END
#!/bin/sh
[ "\$LKDF_WORKERS" = 1 ] && n=alone || n=together_memory
exec cp "$dir/\$n.lkdf" "\$LKDF_TRACE"
END
chmod +x "$dir/command"
"$lkdf" try -q --json -w 1,4 "$dir/command" >"$dir/try.json" 2>"$log" &&
	valid try "$dir/try.json"
ok $? 'try'
"$lkdf" trace check --json "$dir/alone.lkdf" >"$dir/check.json" 2>"$log" &&
	valid trace_check "$dir/check.json"
ok $? 'trace check'
"$lkdf" trace diff --json "$dir/alone.lkdf" "$dir/together_memory.lkdf" \
	>"$dir/diff.json" 2>"$log"
valid trace_diff "$dir/diff.json"
ok $? 'trace diff'

# Each word of the validator refuses something.
# refuses NAME FILE EDIT: an object that was edited by a line of Python
refuses() {
	python3 -c "import json, sys
r = json.load(open(sys.argv[1]))
$3
json.dump(r, open(sys.argv[1] + '.bad', 'w'))" "$2" && ! valid "$1" "$2.bad"
}
refuses try "$dir/try.json" "r['schema'] = 'lkdf/try/2'"
ok $? 'a schema of another number is refused'
refuses try "$dir/try.json" "del r['runs'][0]['kinds'][0]['name']"
ok $? 'so is an object without a member'
refuses try "$dir/try.json" "r['runs'][1]['more'] = 1"
ok $? 'one with a member more'
refuses try "$dir/try.json" "r['runs'][0]['judged'] = 1"
ok $? 'and one of another type'
echo "1..$nr"
exit "$failed"
