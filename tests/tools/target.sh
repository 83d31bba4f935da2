# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh
# What tests of verbs with -p share, sourced after tests/tools/tap.sh: a program
# that says "up" when it may be looked at, and what the verb says of it. $pid is
# the process; the script's own trap ends it.
# shellcheck disable=SC2034,SC2154

# try STATUS FACT COMMAND...: its output is in $dir/log.
try() {
	want=$1
	fact=$2
	shift 2
	"$limit" 100 "$@" >"$dir/log" 2>&1 </dev/null
	[ $? -eq "$want" ]
	ok $? "$fact"
}

holds() {
	grep -q -e "$1" "$dir/log"
	ok $? "it says $1"
}

# start_target COMMAND...: $pid is such a process; errors are in $dir/err.
start_target() {
	rm -f "$dir/up"
	: >"$dir/log"
	"$@" >"$dir/up" 2>"$dir/err" &
	pid=$!
	await grep -qs up "$dir/up"
}

# stop_target SIGNAL
stop_target() {
	kill "-$1" "$pid"
	wait "$pid" 2>/dev/null
	pid=
}

# ask_target: compiles that program, to $dir/ask_target.
ask_target() {
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -Ilib/include \
		-o "$dir/ask_target" tests/tools/ask_target.c -L"$build" -llkdf \
		-lpthread -Wl,-rpath,"$build" >"$dir/log" 2>&1
}

# device_target: the same of the program with devices, to $dir/device_target.
device_target() {
	"${CC:-cc}" -std=c11 -D_GNU_SOURCE -O1 -I. -Ilib/include \
		-o "$dir/device_target" tests/tools/device_target.c -L"$build" \
		-llkdf -lpthread -ldl -Wl,-rpath,"$build" >"$dir/log" 2>&1
}
