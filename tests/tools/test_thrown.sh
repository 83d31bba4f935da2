#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A C++ exception that leaves a body ends the process by SIGABRT and names the
# task and its kind, whatever thread runs the body and whatever handlers are
# further up its stack. An exception that the body catches ends nothing.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. "$(dirname "$0")/example.sh"

command -v "${CXX:-g++}" >"$dir/log" 2>&1 || {
	echo "1..0 # SKIP no C++ compiler"
	exit 0
}
compile tests/tools/thrown.cc
ok $? 'a program whose bodies throw builds'

# ends OPTIONS WHERE WHAT
ends() {
	"$limit" 60 prlimit --core=0 "$dir/program" "$1" "$2" >"$dir/out" 2>"$dir/log"
	rc=$?
	[ "$rc" -eq 134 ]
	ok $? "$1, $2: the process is aborted"
	grep -q "lkdf: $3: an exception" "$dir/log"
	ok $? "$3 is named"
	[ ! -s "$dir/out" ]
	ok $? "no handler further up is taken" "$dir/out"
}

for options in workers=1 workers=2 serial=1; do
	ends "$options" submit "task thrower of kind thrower"
	ends "$options" blocking "task blocker of kind blocker"
	ends "$options" join "task thrower of kind thrower"
	ends "$options" graph "task second of kind thrower"
	ends "$options" 'first block' 'a loop'
	ends "$options" 'last block' 'a loop'
	"$dir/program" "$options" caught >"$dir/log" 2>&1
	ok $? "$options: an exception that is caught in the body ends nothing"
done
LKDF_TRACE="$dir/trace.lkdf" ends workers=2 submit "task thrower of kind thrower"
echo "1..$nr"
exit "$failed"
