#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The example server compiles without a warning and is asked by several clients
# at a time: one that leaves while its request runs, one past its deadline, one
# that does not read its answer. With rings, with threads and with one worker.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh

# asks SCENARIO FACT: in a new directory
asks() {
	mkdir "$dir/root"
	timeout -k 5 120 python3 tests/tools/server.py "$dir/program" \
		"$dir/root" "$1" >"$dir/got" 2>&1
	ok $? "$2" "$dir/got"
	rm -rf "$dir/root"
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
	"$dir/program" --help | grep -q '^usage: server'
	ok $? "--help prints help"
	quotes Documentation/server.rst Documentation/examples/server
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
