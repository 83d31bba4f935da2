#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf check finds no race in the random programs of tests/oracle, which are right.
# CHECK_PROGRAMS=N: so many instead; CHECK_BASE=S: others. It takes few with data:
# check.rst says which of them are reported still, and the first is the 17th.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

for cc in gcc clang; do
	if ! echo 'int main(void) { return 0; }' |
		"$cc" -fsanitize=thread -x c - -o "$dir/empty" 2>"$dir/log"; then
		skip "$cc: random programs" "it has no thread sanitizer"
		continue
	fi
	"$cc" -std=c11 -g -O1 -fsanitize=thread -D_GNU_SOURCE -I. -Ilib/include \
		-o "$dir/oracle" tests/oracle/*.c -L"$build" -llkdf -lpthread \
		-Wl,-rpath,"$build" >"$dir/log" 2>&1
	ok $? "$cc: the oracle compiles" "$dir/log"
	for data in 0 1; do
		programs=${CHECK_PROGRAMS:-$((data ? 15 : 60))}
		"$limit" $((60 + programs)) "$build/lkdf" check -- "$dir/oracle" \
			--programs "$programs" --orders 1 --data "$data" \
			--base "${CHECK_BASE:-1}" >"$dir/got" 2>&1
		rc=$?
		[ $rc -eq 0 ] && grep -q '^lkdf check: nothing was found' "$dir/got"
		ok $? "$cc: $programs programs, data $data" "$dir/got"
	done
	# The second one sees the same orders.
	break
done
echo "1..$nr"
exit $failed
