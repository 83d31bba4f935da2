#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The example server compiles without a warning and is asked by several clients
# at a time: one that leaves while its request runs, one past its deadline, one
# that does not read its answer. With rings, with threads and with one worker.
# An answer is one call of sendmsg(), on a socket that does not hold it back.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh

# asks SCENARIO FACT: in a new directory
asks() {
	mkdir "$dir/root"
	"$limit" 120 python3 tests/tools/server.py "$dir/program" \
		"$dir/root" "$1" >"$dir/got" 2>&1
	ok $? "$2" "$dir/got"
	rm -rf "$dir/root"
}

# The programs by which the figures of ported.rst are measured.
measures() {
	"$dir/plain" >"$dir/port" &
	pid=$!
	await grep -q '^listening' "$dir/port"
	"$limit" 60 "$dir/load" "$(sed 's/.*://' "$dir/port")" 3 50 \
		"echo hello" >"$dir/got" 2>&1
	rc=$?
	kill $pid
	[ $rc -eq 0 ] && grep -q '^3 connections: .* a second, p50 .* ms' \
		"$dir/got"
	ok $? "load asks plain from three connections" "$dir/got"
}

all() {
	asks answers "$1: lines are answered, bad ones with the reason"
	asks many "$1: sixteen clients at once"
	asks leave "$1: eight in flight; who leaves takes his request along"
	asks late "$1: a request past its deadline ends with that"
	asks slow "$1: a client that does not read holds up nobody"
	asks busy "$1: not more clients than allowed"
	asks stop "$1: SIGTERM ends it, with requests under way"
}

compile Documentation/examples/server/*.c
ok $? "server compiles without a warning"
if ! command -v python3 >/dev/null; then
	skip "the server is asked" "no python3"
elif [ -x "$dir/program" ]; then
	export LKDF_WORKERS=2
	all rings
	LKDF_IO=threads all threads
	COUNT_CALLS=$dir/count.so
	export COUNT_CALLS
	# shellcheck disable=SC2086
	"${CC:-gcc}" ${CFLAGS:-} -D_GNU_SOURCE -shared -fPIC -O2 \
		-o "$COUNT_CALLS" tests/tools/count_calls.c -ldl >"$dir/log" 2>&1
	ok $? "what counts calls is compiled"
	asks calls "an answer is one call, and TCP does not hold it back"
	LKDF_WORKERS=1 asks leave "one worker: who leaves takes it along"
	LKDF_WORKERS=1 asks many "one worker: sixteen clients"
	for bad in '--port x' '--port 65536' '--deadline 0' '--clients 0' \
		'--nonsense' 'word' '--max-size'; do
		# shellcheck disable=SC2086
		"$dir/program" $bad >"$dir/got" 2>&1
		[ $? -eq 2 ]
		ok $? "$bad: exit status 2" "$dir/got"
	done
	"$dir/program" --root "$dir/none" >"$dir/got" 2>&1
	[ $? -eq 1 ] && grep -q 'No such file' "$dir/got"
	ok $? "no such directory: exit status 1" "$dir/got"
	prlimit --nofile=100 "$dir/program" >"$dir/got" 2>&1
	[ $? -eq 1 ] && grep -q '64 clients, and only 100' "$dir/got"
	ok $? "too few descriptors: it says so first" "$dir/got"
	for name in load plain; do
		"${CC:-gcc}" -std=c11 -D_GNU_SOURCE -O2 -Wall -Wextra -Werror \
			-o "$dir/$name" tests/bench/server/$name.c >"$dir/log" 2>&1
		ok $? "$name.c, which measures it, compiles without a warning"
	done
	measures
	"$dir/program" --help | grep -q '^usage: server'
	ok $? "--help prints help"
	quotes Documentation/server.rst Documentation/examples/server
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
