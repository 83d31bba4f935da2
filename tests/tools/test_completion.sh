#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Completion of lkdf: what is offered for a line, against the tables that --help
# prints; then typed into interactive shells, TABs included.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
PATH=$build:$PATH
target=
trap '[ -z "$target" ] || kill $target 2>/dev/null; rm -rf "$dir"' EXIT

# The function of the script, called as bash calls it: one word a line.
cat >"$dir/ask.bash" <<'EOT'
. tools/main/completion.bash
COMP_WORDS=("$@")
COMP_CWORD=$(($# - 1))
_lkdf
((${#COMPREPLY[@]} == 0)) || printf '%s\n' "${COMPREPLY[@]}"
EOT
# offered WORD...: of the line lkdf WORD..., the cursor is in the last one.
offered() {
	bash --norc --noprofile "$dir/ask.bash" lkdf "$@" 2>"$dir/log"
}

# is FACT WANT WORD...: just the words of WANT.
is() {
	fact=$1
	want=$2
	shift 2
	got=$(offered "$@" | sort -u | tr '\n' ' ')
	echo "offered: $got" >>"$dir/log"
	[ "$got" = "${want:+$want }" ]
	ok $? "$fact"
}

# The words of the table that a --help prints.
table() {
	sed -n '/^[a-z]*:$/,/^$/s/^  \([a-z]*\).*/\1/p'
}

offered '' | grep -vx help | sort >"$dir/have"
lkdf --help | table | sort | diff - "$dir/have" >"$dir/log"
ok $? 'bash: all verbs'
lkdf --help | table | while read -r verb; do
	[ "$verb" = trace ] || echo "$verb"
done >"$dir/verbs"
for word in $(lkdf trace --help | table); do
	echo "trace $word"
done >>"$dir/verbs"
while read -r verb; do
	# shellcheck disable=SC2086
	offered $verb -- | sort >"$dir/have"
	# shellcheck disable=SC2086
	lkdf $verb --help | sed -n '/^options:/,$s/^.\{6\}\(--[a-z-]*\).*/\1/p' |
		sort | diff - "$dir/have" >"$dir/log"
	ok $? "bash: all options of $verb, and no other"
done <"$dir/verbs"
is 'bash: a verb' stat st
is 'bash: a word of trace' convert trace con
is 'bash: help of a verb' report help rep
is 'bash: an option' --synthetic topo --sy
is 'bash: no option that the verb refuses' '' topo --verb
is 'bash: a value' 'chrome csv' trace convert --to c
is 'bash: a value behind =' perfetto trace convert --to = p
is 'bash: a value right behind =' 'chrome csv perfetto' trace convert --to =
is 'bash: a value of a letter' csv trace convert -t cs
is 'bash: a suite' placement bench pl
is 'bash: a word behind options' status probe --hz 100 statu
is 'bash: options behind the last word' --best-effort report x.lkdf --b
is 'bash: a file' README.md report README.m
is 'bash: a folder' Documentation bench --dir Docum
is 'bash: no file where a folder is asked for' '' bench --dir README.m
is 'bash: a command' printf run -T 5 printf
is 'bash: a word of an option before a command' no run --place n
is 'bash: what a command is given' README.md stat -- cat README.m
is 'bash: nothing where anything may stand' '' pages --csv ''
is 'bash: nothing of a verb that is none' '' topp --js

# Options of the runtime: names from its table, values where they are words.
offered run -o '' | sort >"$dir/have"
sed -n 's/^	{ \.name = "\([a-z_]*\)",$/\1=/p' lib/api/config.c | sort |
	diff - "$dir/have" >"$dir/log" && [ -s "$dir/have" ]
ok $? 'bash: all options of the runtime'
is 'bash: one of them' blocking= run -o blocki
is 'bash: another behind a comma' 'no,blocking=' run -o pin = no,blocki
is 'bash: a value of it' 'auto no yes' run -o pin = ''
is 'bash: that of the second' 'threads' run -o pin = no,io = thr
is 'bash: nothing where it is a number' '' run -o workers =
is 'bash: behind the long name' 'blocking=' run --options = blocki
is 'bash: a value behind the long name' 'yes' run --options = pin = y
is 'bash: the command after it' printf run -o pin = no printf
LKDF_WORKERS=nonsense is 'bash: whatever the environment says' 'auto no yes' \
	run -o pin =
is 'bash: CPUs' "$(cat /sys/devices/system/cpu/online)" run --cpus ''

# A process with a runtime, one without, and one with a name that a shell would
# act upon.
cat >"$dir/open.py" <<'EOT'
import ctypes, sys, time
lib = ctypes.CDLL(sys.argv[1])
rt = ctypes.c_void_p()
assert lib.lkdf_open(b"workers=1", ctypes.byref(rt)) == 0
lib.prctl(15, sys.argv[2].encode())
print("up", flush=True)
time.sleep(600)
EOT
# start NAME: in the background; $! has a runtime and that name.
start() {
	mkfifo "$dir/fifo"
	python3 "$dir/open.py" "$build/liblkdf.so" "$1" >"$dir/fifo" &
	read -r _ <"$dir/fifo"
	rm "$dir/fifo"
	target="$target $!"
}

# tab SHELL LINE WANT [SCRIPT]: "^" is a TAB.
tab() {
	if ! command -v "$1" >/dev/null; then
		skip "$1: $2" "no $1"
		return
	fi
	got=$(python3 tests/tools/tab.py "$1" "${4:-tools/main/completion.$1}" "$2" \
		2>"$dir/log")
	echo "typed: $got" >>"$dir/log"
	[ "$got" = "$3" ]
	ok $? "$1 makes $3 of it"
}

if ! command -v python3 >/dev/null; then
	skip 'processes, and shells with a terminal' 'no python3'
	echo "1..$nr"
	exit "$failed"
fi
start lkdf-seen
seen=$!
# shellcheck disable=SC2016
start '$(reboot)'
hostile=$!
offered stat -p '' >"$dir/have"
grep -qx "$seen" "$dir/have"
ok $? 'bash: a process with a runtime, by number' "$dir/have"
! grep -qx -e $$ -e "$hostile" "$dir/have"
ok $? 'bash: no process without one, nor one with a hostile name' "$dir/have"
is 'bash: a process with a runtime, by name' lkdf-seen stat -p lkdf-se
is 'bash: no hostile name' '' stat -p '$'

for shell in bash zsh; do
	tab $shell 'lkdf doc^--js^' '<lkdf><doctor><--json>'
	tab $shell 'lkdf trace conv^--to=per^' \
		'<lkdf><trace><convert><--to=perfetto>'
	tab $shell 'lkdf trace convert --to ch^' \
		'<lkdf><trace><convert><--to><chrome>'
	tab $shell 'lkdf report READ^' '<lkdf><report><README.md>'
	tab $shell 'lkdf bench --out=READ^' '<lkdf><bench><--out=README.md>'
	tab $shell 'lkdf run -T 5 -- base64 READ^' \
		'<lkdf><run><-T><5><--><base64><README.md>'
	tab $shell 'lkdf run -o pi^ye^ true' '<lkdf><run><-o><pin=yes><true>'
	tab $shell 'lkdf run --options=pin=no,blocki^2 true' \
		'<lkdf><run><--options=pin=no,blocking=2><true>'
	tab $shell 'lkdf run -o pin=no,memory_stri^y^ true' \
		'<lkdf><run><-o><pin=no,memory_strict=yes><true>'
	tab $shell 'lkdf stat -p lkdf-se^' '<lkdf><stat><-p><lkdf-seen>'
	lkdf completion $shell | diff - tools/main/completion.$shell >"$dir/log"
	ok $? "lkdf completion $shell is what is installed"
done
mkdir "$dir/functions" && cp tools/main/completion.zsh "$dir/functions/_lkdf"
tab zsh 'lkdf trace ch^--js^' '<lkdf><trace><check><--json>' "$dir/functions"
lkdf completion fish >"$dir/log" 2>&1
[ $? -eq 2 ] && grep -q 'bash or zsh' "$dir/log"
ok $? 'lkdf completion of another shell is refused'
echo "1..$nr"
exit "$failed"
