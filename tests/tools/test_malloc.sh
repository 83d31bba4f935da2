#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Programs of others with liblkdf-malloc.so in place of their malloc, and what
# a program may expect of it (tests/api/malloc/abi.c).
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
lib=$build/liblkdf-malloc.so
cc=${CC:-gcc}

# preloaded COMMAND...: what it says is in the log. "stats" proves that the
# library was there: it prints at exit.
preloaded() {
	"$limit" 250 env LKDF_MALLOC=stats LD_PRELOAD="$lib" "$@" \
		>"$dir/log" 2>&1 </dev/null
}

used() {
	grep -q '^lkdf-malloc: node [0-9]*: used' "$dir/log"
}

if ! $cc -O1 -fno-builtin -I. -D_GNU_SOURCE -o "$dir/abi" \
	tests/api/malloc/abi.c -lpthread >"$dir/log" 2>&1; then
	ok 1 'the ABI program builds'
	echo "1..$nr"
	exit 1
fi

# The program itself is held to glibc.
"$dir/abi" >"$dir/log" 2>&1
ok $? "glibc does what abi.c expects"
preloaded "$dir/abi"
ok $? "so do we: $(grep -c '^ok' "$dir/log") facts"
used
ok $? 'our library was the one that was asked'

# The words of LKDF_MALLOC; one that is no word is named, and does no harm.
LKDF_MALLOC=garbage,stats, LD_PRELOAD=$lib "$dir/abi" >"$dir/log" 2>&1
ok $? 'a word that is not known does no harm'
grep -q 'unknown word "garbage": expected stats, strict or huge' "$dir/log"
ok $? 'it is named'
used
ok $? 'the words beside it count'
LKDF_MALLOC=stat,huge LD_PRELOAD=$lib "$dir/abi" >"$dir/log" 2>&1
grep -q 'unknown word "stat"' "$dir/log" && ! used
ok $? 'a part of a word is no word'

# dies HOW TEXT
dies() {
	preloaded "$dir/abi" "$1"
	rc=$?
	[ "$rc" -eq 134 ] && grep -q "$2" "$dir/log"
	ok $? "misuse ($1) ends with SIGABRT and \"$2\""
}
# No core files.
# shellcheck disable=SC3045
ulimit -c 0
dies twice 'free(): double free detected'
dies twice-large 'free(): double free detected'
dies inside 'free(): invalid pointer'
dies stack 'free(): invalid pointer'
dies realloc 'realloc(): invalid pointer'

# shellcheck disable=SC2016
preloaded bash -c 'a=(); for i in {1..20000}; do a+=("x$i"); done
	f() { local b=$(echo "${a[$1]}"); echo "${b#x}"; }
	s=0; for i in 1 20 300 4000; do s=$((s + $(f $i))); done
	[ "$s" = 4325 ] && for i in {1..30}; do (: | cat); done'
ok $? 'bash: arrays, subshells, pipes'
used
ok $? 'bash: with our library'

if command -v python3 >/dev/null; then
	PYTHONMALLOC=malloc preloaded python3 -c '
import threading, subprocess, json
d = {str(i): list(range(i % 50)) for i in range(20000)}
def work(n):
    for k in range(20):
        s = json.dumps({a: d[a] for a in list(d)[:n]})
        assert json.loads(s)["7"] == list(range(7))
t = [threading.Thread(target=work, args=(200 + i,)) for i in range(4)]
[x.start() for x in t]
assert subprocess.run(["echo", "hi"], capture_output=True).stdout == b"hi\n"
[x.join() for x in t]
b = bytearray()
for i in range(300):
    b += bytes(i * 100)
assert len(b) == 100 * 299 * 150
'
	ok $? 'python3: objects, threads, children, a buffer that grows'
	used
	ok $? 'python3: with our library'
else
	skip 'python3' 'is not installed'
fi

# The library of this tree, by make, the compiler, assembler and linker.
env -u MAKEFLAGS -u MFLAGS LD_PRELOAD="$lib" "$limit" 280 make -s -j2 \
	CC="$cc" BUILD="$dir/build" "$dir/build/liblkdf-malloc.so" \
	>"$dir/log" 2>&1 </dev/null
ok $? 'make and the compiler build liblkdf-malloc.so'
if [ -s "$dir/build/liblkdf-malloc.so" ]; then
	lib=$dir/build/liblkdf-malloc.so preloaded "$dir/abi"
	ok $? 'what they built works'
else
	ok 1 'what they built works'
fi

# stress FACT ARGUMENTS...
stress() {
	fact=$1
	shift
	if ! command -v stress-ng >/dev/null; then
		skip "stress-ng: $fact" 'is not installed'
		return
	fi
	preloaded stress-ng --malloc 2 --malloc-bytes 64m --verify \
		--temp-path "$dir" --timeout 60 "$@"
	rc=$?
	used || rc=1
	grep -q 'unsuccessful run\|SIGSEGV\|lkdf-malloc: [^n]' "$dir/log" &&
		rc=1
	ok "$rc" "stress-ng: $fact"
}
stress 'malloc' --malloc-ops 30000
stress 'malloc, every page touched' --malloc-bytes 1m --malloc-ops 5000 \
	--malloc-touch
stress 'malloc with threads' --malloc-ops 10000 --malloc-pthreads 4
stress 'malloc, large ones mapped' --malloc-ops 10000 --malloc-thresh 8192

echo "1..$nr"
[ "$failed" -eq 0 ]
