# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh disable=SC2154
# Recordings of programs with planted problems, and their reports as JSON:
# sourced behind tap.sh by scripts that set $lkdf and $log.

# made NAME: the recording in $dir
made() {
	[ -e "$dir/$1.lkdf" ] ||
		python3 tests/api/report/planted.py "$1" "$dir/$1.lkdf"
}

# told NAME EXPRESSION: of the report as JSON, r; with all=1 that of -v
all=
told() {
	made "$1"
	"$lkdf" report ${all:+-v} --json "$dir/$1.lkdf" >"$dir/json" 2>"$log" &&
		python3 - "$dir/json" "$2" >>"$log" 2>&1 <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
f = r['findings']
cost = [x for x in f if x['cost'] is not None]
print([(x['id'], x['cost'], x['fix']) for x in f])
sys.exit(not eval('(' + sys.argv[2] + ')'))
END
}
