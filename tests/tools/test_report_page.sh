#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The page of lkdf report in a browser without a window: it says nothing on its
# console, shows the numbers of the text, and no name of a kind becomes markup. In
# light and dark and in a narrow window each text can be read.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
export PYTHONDONTWRITEBYTECODE=1
lkdf=$build/lkdf
log=$dir/log
browser=
for name in chromium chromium-browser google-chrome; do
	[ -n "$browser" ] || browser=$(command -v $name)
done
if [ -z "$browser" ] || ! command -v python3 >/dev/null; then
	echo '1..0 # SKIP chromium or python3 is not installed'
	exit 0
fi

# browse BASE COLOURS WIDTH: writes $dir/BASE.{dom,console} of $dir/BASE.html
browse() {
	case $2 in
	dark) scheme=0 ;;
	light) scheme=1 ;;
	esac
	"$limit" 120 "$browser" --headless=new --no-sandbox --disable-gpu \
		--no-first-run --disable-background-networking \
		--disable-component-update --disable-sync \
		--blink-settings="preferredColorScheme=$scheme" \
		--user-data-dir="$dir/profile" --window-size="$3,1600" \
		--enable-logging=stderr --dump-dom "file://$dir/$1.html" \
		>"$dir/$1.dom" 2>"$dir/$1.err"
	grep CONSOLE "$dir/$1.err" >"$dir/$1.console"
	true
}

# page NAME: writes $dir/NAME.{html,txt,json,dom,console}
page() {
	python3 tests/api/report/planted.py "$1" "$dir/$1.lkdf" &&
		"$lkdf" report -q "$dir/$1.lkdf" --html "$dir/$1.html" \
			>"$dir/$1.txt" &&
		"$lkdf" report --json "$dir/$1.lkdf" >"$dir/$1.json" || return
	browse "$1" light 1280
}

# looks NAME COLOURS WIDTH: a copy that lets a script of ours look at itself.
looks() {
	copy=$1.$2.$3
	{
		sed 's/<meta http-equiv="Content-Security-Policy"[^>]*>//' \
			"$dir/$1.html" &&
			echo '<script>' && cat tests/api/report/looks.js &&
			echo '</script>'
	} >"$dir/$copy.html"
	browse "$copy" "$2" "$3"
	[ -s "$dir/$copy.dom" ] && [ ! -s "$dir/$copy.console" ]
	ok $? "$1, $2, $3 px: the browser has nothing to say" "$dir/$copy.err"
	for fact in fits contrast; do
		python3 tests/api/report/page.py $fact "$dir/$copy" "$2" "$3" \
			>"$log" 2>&1
		case $fact in
		fits) ok $? "$1, $2, $3 px: nothing is wider than the window" ;;
		*) ok $? "$1, $2, $3 px: each text has a contrast of 4.5" ;;
		esac
	done
}

# holds NAME FACT FUNCTION: of tests/api/report/page.py
holds() {
	python3 tests/api/report/page.py "$3" "$dir/$1" >"$log" 2>&1
	ok $? "$1: $2"
}

for name in small remote critical two old graph device hostile; do
	page "$name"
	[ -s "$dir/$name.dom" ] && [ ! -s "$dir/$name.console" ]
	ok $? "$name: the browser has nothing to say" "$dir/$name.err"
	holds "$name" 'its data are the JSON' data
	holds "$name" 'without scripts it shows the text' text
	holds "$name" 'the table has the numbers of the text' table
	holds "$name" 'so has that of devices' devices
	holds "$name" 'so have the classes of time' classes
	holds "$name" 'so have the findings' findings
	holds "$name" 'at most one draw for each column and lane' draws
	holds "$name" 'names are text' names
	holds "$name" 'the policy allows nothing else' policy
done

# first NAME TITLE FIX: of the page alone
first() {
	[ -s "$dir/$1.dom" ] || page "$1"
	[ -s "$dir/$1.dom" ] && [ ! -s "$dir/$1.console" ] &&
		python3 tests/api/report/page.py first "$dir/$1" "$2" "$3" \
			>"$log" 2>&1
	ok $? "$1: what was planted is finding 1 on the page"
}

first remote 'of the bytes that tasks use come from another node' \
	'the data of spmv lie on node 0'
first convoy 'Bodies sleep: update' \
	'lkdf_limit_create() instead of a lock around update'
first critical 'workers starve while reduce runs' 'split reduce'
first quota 'Workers wait for a CPU while they have work' 'LKDF_WORKERS=2'
first io 'Workers wait for operations, most of them read' \
	'keep more operations under way'
first lock 'Bodies wait for one another at libdemo.so+0x40' \
	'lkdf_limit_create() instead of a lock around update'
holds lock 'stacks are bars, kind by kind, as wide as their part' flame
first two 'Bodies sleep: update' 'lkdf_limit_create()'
for name in clean pipeline; do
	page "$name"
	[ -s "$dir/$name.dom" ] && [ ! -s "$dir/$name.console" ]
	ok $? "$name: the browser has nothing to say" "$dir/$name.err"
	holds "$name" 'a reader sees that nothing is wrong' fine
done

for name in small remote device hostile lock; do
	looks "$name" dark 500
done
looks small light 500
looks remote light 1280
looks hostile dark 1280

# picture FILE TITLE...: of those parts of the page
picture() {
	file=$dir/$1
	shift
	tools/report/picture.sh "$build" "$file" "$dir/remote.lkdf" 520,520 \
		"$@" >"$log" 2>&1
}

picture all.png && picture nodes.png 'Bytes: who uses, whose they are' &&
	picture none.png 'No such part' &&
	python3 - "$dir" >"$log" 2>&1 <<'END'
import struct
import sys
png = [open('%s/%s.png' % (sys.argv[1], name), 'rb').read()
       for name in ('none', 'nodes', 'all')]
print([len(p) for p in png])
assert all(struct.unpack('>II', p[16:24]) == (520, 520) for p in png)
assert len(png[0]) < len(png[1]) / 2
assert png[1] != png[2]
END
ok $? 'a picture of the page has the parts that are asked for'

echo "1..$nr"
[ "$failed" -eq 0 ]
