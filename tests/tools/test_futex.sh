#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf futex names the lock, symbol and kind of a program with a hidden lock,
# and gives no word to one without. What is asked for is exact: which word has
# the samples. How many there are depends on the CPUs that the machine gives.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
# shellcheck source=tests/tools/probe.sh
. "${0%/*}/probe.sh"
lkdf=$build/lkdf
convoy=$build/examples/convoy
pins=$dir/bpf
export LKDF_PROBE="$pins" LKDF_WORKERS=2 MALLOC_ARENA_MAX=1

# futex RC WORDS...: it ends with RC; its words are in $dir/log then.
futex() {
	want=$1
	shift
	"$lkdf" futex "$@" >"$dir/log" 2>&1
	[ $? -eq "$want" ]
}

futex 2
ok $? 'no process is refused'
futex 2 -p 0
ok $? 'so is number 0'
futex 5 -p no-such-command-here
ok $? 'and a command that nobody runs'
futex 5 -p $$ --dir "$pins"
ok $? 'a process without a runtime'
grep -q 'no lkdf runtime' "$dir/log"
ok $? 'and the line says so'
"$convoy" --lock none --seconds 20 >/dev/null 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null; rm -rf "$dir"' EXIT
await grep -qs lkdf:stats /proc/$pid/maps
futex 4 -p $pid --dir "$pins" && grep -q 'lkdf probe start' "$dir/log"
ok $? 'without a probe: how to start it'

"$lkdf" probe start --dir "$pins" --hz 1000 >"$dir/log" 2>&1 ||
	probe_absent 'words are named'
trap 'kill $pid 2>/dev/null; "$lkdf" probe stop --dir "$pins" >/dev/null
	rm -rf "$dir"' EXIT
futex 4 -p $pid --dir "$pins" && grep -q 'does not see' "$dir/log"
ok $? 'a program that was there before is not seen, and told so'
kill $pid
wait $pid 2>/dev/null

# Prints "samples part-of-futex-samples-on-the-first-word share delivered where
# kind"; the last is 1 where two CPUs were there.
cat >"$dir/read.py" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
w = r['words'][0] if r['words'] else None
n = r['futex_samples']
print(r['samples'], n, round(w['samples'] / n, 3) if w and n else 0,
      r['futex_share'],
      int(r['samples'] > 0.85 * r['hz'] * r['seconds'] * r['workers']),
      (w['kinds'][0]['name'] if w and w['kinds'] else '-') or '-',
      w['where'] if w else '-')
END

# look LOCK: two seconds of it, as the line above in $dir/line
look() {
	"$convoy" --lock "$1" --seconds 60 >/dev/null 2>&1 &
	pid=$!
	i=0
	until futex 0 -p $pid --dir "$pins" -d 2 --json || [ $i -gt 20 ]; do
		sleep 0.1
		i=$((i + 1))
	done
	cp "$dir/log" "$dir/json"
	kill $pid
	wait $pid 2>/dev/null
	python3 "$dir/read.py" "$dir/json" >"$dir/line" 2>"$dir/log" ||
		echo '0 0 0 0 0 - -' >"$dir/line"
	echo "# $1: $(cat "$dir/line")"
}

# named LOCK PATTERN: at least nine of ten samples in futex(2) are on that word.
# Where two CPUs are not there the workers may not meet: again, then no verdict.
named() {
	tries=0
	while [ $tries -lt 5 ]; do
		look "$1"
		# shellcheck disable=SC2046
		set -- "$1" "$2" $(cat "$dir/line")
		[ "$4" -lt 20 ] || break
		tries=$((tries + 1))
	done
	if [ "$4" -lt 20 ]; then
		skip "$1 is named" "only $4 samples: the CPUs were not there"
		return
	fi
	awk '{ exit !($3 >= 0.9) }' "$dir/line"
	ok $? "$1: one word has nine of ten samples" "$dir/json"
	grep -qE "$2" "$dir/line"
	ok $? "and is named" "$dir/line"
	awk '{ exit $6 != "node" }' "$dir/line"
	ok $? "with the kind that meets there" "$dir/line"
	if [ "$1" != random ]; then
		return
	fi
	if awk '{ exit !($5 == 1) }' "$dir/line"; then
		awk '{ exit !($4 >= 0.3) }' "$dir/line"
		ok $? 'it has three tenths of the time' "$dir/line"
	else
		skip 'it has three tenths of the time' 'the CPUs were not there'
	fi
}

libc='libc\.so'
# debug_named TEXT: the debug file of libc, where there is one, names the word.
debug_named() {
	[ -e /usr/lib/debug/.build-id ] || return 0
	grep -qF "$1 in libc" "$dir/line"
	ok $? "by the debug file: $1" "$dir/line"
}
named random "$libc"
debug_named 'lock (random.c)'
named mutex 'mutex \(convoy\.c\) in convoy'
named sem 'semaphore \(convoy\.c\) in convoy'
named malloc "$libc"
debug_named 'main_arena (malloc.c)'
named stdio "$libc"
debug_named '_IO_stdfile_1_lock (stdfiles.c)'
named block 'block "lock table"\+0x140 in heap'
grep -q '"label": "lock table"' "$dir/json" &&
	grep -q '"block_bytes": 4096' "$dir/json"
ok $? 'with its block in JSON' "$dir/json"
named heap 'node heap$'
! grep -q '"label"' "$dir/json"
ok $? 'without a label it is the heap, and no more'
for lock in none spin; do
	look $lock
	awk '{ exit !($4 < 0.05) }' "$dir/line"
	ok $? "$lock: below 5 %" "$dir/line"
	awk '{ exit !($2 == 0 || $4 < 0.01) }' "$dir/line"
	ok $? 'no word of the program is named' "$dir/json"
done

# Facts that are not samples, and words without a symbol. Again where the CPUs
# were not there.
cat >"$dir/more.py" <<'END'
import json, sys
r = json.load(open(sys.argv[1]))
w = r['words'][0] if r['words'] else {'asleep': 0, 'kinds': [], 'where': '-'}
print(w['asleep'], ' '.join(sorted(k['name'] for k in w['kinds'])) or '-')
print(w['where'])
END

# more PATTERN ENV... -- WORDS...: two lines of that program have the pattern
more() {
	pattern=$1
	shift
	tries=0
	while [ $tries -lt 8 ]; do
		env "$@" --seconds 60 >/dev/null 2>&1 &
		pid=$!
		i=0
		until futex 0 -p $pid --dir "$pins" -d 1 --json ||
			[ $i -gt 20 ]; do
			sleep 0.1
			i=$((i + 1))
		done
		cp "$dir/log" "$dir/json"
		kill $pid
		wait $pid 2>/dev/null
		python3 "$dir/more.py" "$dir/json" >"$dir/line" 2>&1
		grep -qE "$pattern" "$dir/line" && return
		tries=$((tries + 1))
	done
	return 1
}

# Of four workers three wait for the one that sleeps with the lock.
more '^[123] node$' LKDF_WORKERS=4 "$convoy" --lock long
ok $? 'who is asleep now is counted' "$dir/json"
grep -qF 'mutex (convoy.c) in convoy' "$dir/line"
ok $? 'at the word that has no samples, but sleeps' "$dir/line"
more '^[0-9]* leaf node$' "$convoy" --lock mutex --kinds 2
ok $? 'two kinds meet at one word' "$dir/json"

# Of a library without symbols but those that others use
cat >"$dir/stripped.c" <<'END'
#include <pthread.h>
int near_to_it = 1;
static pthread_mutex_t hidden[8] = { PTHREAD_MUTEX_INITIALIZER };
long random(void)
{
	pthread_mutex_lock(&hidden[0]);
	near_to_it++;
	pthread_mutex_unlock(&hidden[0]);
	return 0;
}
END
"${CC:-cc}" -O1 -shared -fPIC -s -Wl,--build-id=none \
	-o "$dir/libstripped.so" "$dir/stripped.c" -lpthread 2>"$dir/log"
ok $? 'a library without symbols'
more '^libstripped\.so\+0x[0-9a-f]+ \(near near_to_it\)$' \
	LD_PRELOAD="$dir/libstripped.so" "$convoy" --lock random
ok $? 'its lock: library, offset and the nearest symbol' "$dir/line"

# The text, for people
"$convoy" --lock mutex --seconds 60 >/dev/null 2>&1 &
pid=$!
i=0
until futex 0 -p $pid --dir "$pins" && grep -q 'wakers on' "$dir/log" ||
	[ $i -gt 20 ]; do
	sleep 0.1
	i=$((i + 1))
done
grep -q 'convoy (.*): 2 workers, 1\.[0-9] s,' "$dir/log"
ok $? 'the text names the program, after a second'
grep -q 'kinds node' "$dir/log"
ok $? 'which kinds meet'
grep -q '% of it to wait; .* sleeps/s .* asleep now' "$dir/log"
ok $? 'how many wait'
grep -q 'word 0x[0-9a-f]*  waiters on node 0.*wakers on node 0' "$dir/log"
ok $? 'and the nodes of waiters and wakers'

# On a terminal it goes on until it is interrupted.
if command -v script >/dev/null; then
	: >"$dir/screen"
	script -qfec "$lkdf futex -p $pid --dir $pins" "$dir/screen" \
		</dev/null >/dev/null 2>&1 &
	screen=$!
	# shellcheck disable=SC2016
	await sh -c '[ "$(grep -c "workers, " "$1")" -ge 2 ]' sh "$dir/screen"
	ok $? 'on a terminal it looks again and again' "$dir/screen"
	pkill -TERM -P $screen
	wait $screen
else
	skip 'on a terminal it looks again' 'there is no script(1)'
fi
full 'standard output is not complete' 'the text' "$lkdf" futex -p $pid --dir "$pins" -d 1
"$lkdf" futex -p $pid --dir "$pins" -d 3 >"$dir/out" 2>&1 &
look=$!
# It sleeps once it has read the first counts.
await grep -qs nanosleep "/proc/$look/wchan"
"$lkdf" probe stop --dir "$pins" >"$dir/log" 2>&1
wait $look
[ $? -eq 5 ] && grep -q 'was stopped' "$dir/out"
ok $? 'stopped in the middle: it says so' "$dir/out"
kill -0 $pid
ok $? 'the program goes on'
kill $pid
wait $pid 2>/dev/null
echo "1..$nr"
exit "$failed"
