#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# LKDF_TRACE=FILE before a program, then lkdf trace on the file.
set -u
build=${BUILD:-build}
lkdf=$build/lkdf
hello=$build/examples/hello
nr=0
failed=0
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM

# ok STATUS SENTENCE
ok() {
	nr=$((nr + 1))
	if [ "$1" -eq 0 ]; then
		printf 'ok %d - %s\n' "$nr" "$2"
	else
		failed=$((failed + 1))
		printf 'not ok %d - %s\n' "$nr" "$2"
	fi
}

# is GOT WANT SENTENCE
is() {
	[ "$1" = "$2" ]
	ok $? "$3"
	[ "$1" = "$2" ] || printf '# got %s, expected %s\n' "$1" "$2"
}

LKDF_TRACE=$tmp/run.lkdf "$hello" >/dev/null
ok $? 'a program runs with LKDF_TRACE'
is "$(stat -c %a "$tmp/run.lkdf")" 600 'the file is for its owner only'
is "$(ls "$tmp")" run.lkdf 'there is no other file'
"$lkdf" trace check "$tmp/run.lkdf" >"$tmp/out"
ok $? 'the file is whole'
grep -q '2 slices (0 lost)' "$tmp/out"
ok $? 'it holds both bodies'

"$lkdf" trace convert "$tmp/run.lkdf" -o "$tmp/run.json"
ok $? 'it is converted'
python3 -m json.tool "$tmp/run.json" >/dev/null
ok $? 'to JSON'
is "$(grep -c '"ph": "X", "name": "say"' "$tmp/run.json")" 2 \
	'with a slice for each body'
is "$(grep -c '"name": "run_begin"' "$tmp/run.json")" 1 'and the run'
grep -q '"name": "worker 0' "$tmp/run.json"
ok $? 'and the names of threads'

# Tasks that are submitted, with data: some more than a kind needs to be known
LKDF_TRACE=$tmp/engine.lkdf "$build/examples/engine" >"$tmp/out"
pushes=$(sed -n 's/ pushes.*//p' "$tmp/out")
"$lkdf" trace check "$tmp/engine.lkdf" >"$tmp/out"
is "$(sed -n 's/.*, \([0-9]*\) slices (0 lost).*/\1/p' "$tmp/out")" "$pushes" \
	'each submitted task has its slice'

# All but the last 3 bytes
size=$(wc -c <"$tmp/run.lkdf")
head -c $((size - 3)) "$tmp/run.lkdf" >"$tmp/cut.lkdf"
"$lkdf" trace check "$tmp/cut.lkdf" >/dev/null 2>"$tmp/err"
is $? 6 'a cut file is damaged input'
grep -q 'offset [0-9]' "$tmp/err"
ok $? 'the offset is named'
"$lkdf" trace convert "$tmp/cut.lkdf" -o "$tmp/cut.json" 2>/dev/null
is $? 6 'it is not converted'
[ ! -e "$tmp/cut.json" ]
ok $? 'and nothing is written'
"$lkdf" trace convert --best-effort "$tmp/cut.lkdf" -o "$tmp/cut.json" \
	2>"$tmp/err"
ok $? 'unless one asks for what is readable'
python3 -m json.tool "$tmp/cut.json" >/dev/null
ok $? 'which is JSON too'
is "$(grep -c '"ph": "X"' "$tmp/cut.json")" 2 'with both bodies'
grep -q 'offset [0-9]' "$tmp/err"
ok $? 'and a word about the rest'

"$lkdf" trace check "$lkdf" 2>/dev/null
is $? 6 'another sort of file is damaged input'
"$lkdf" trace check "$tmp/none" 2>/dev/null
is $? 5 'a file that is not there is said to be gone'
"$lkdf" trace convert 2>/dev/null
is $? 2 'a missing name is a mistake of usage'

ln -s run.lkdf "$tmp/link.lkdf"
LKDF_TRACE=$tmp/link.lkdf "$hello" >/dev/null 2>"$tmp/err"
is $? 1 'a link is not written through'
grep -q 'link.lkdf' "$tmp/err"
ok $? 'the program is told the name'

printf '1..%d\n' "$nr"
[ "$failed" -eq 0 ]
