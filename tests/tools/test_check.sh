#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# lkdf check, with the plain library and programs with -fsanitize=thread: each race
# of check_races.c and check_away.c is found in one run, and is gone with the order
# given.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
program=$dir/check_races
orders=$dir/check_orders

# A sanitizer wants its own layout of addresses.
no_random=
setarch -R true 2>/dev/null && no_random=1

# compile COMPILER [FLAG]
compile() {
	for source in check_races check_away check_orders check_memory \
		check_device; do
		# shellcheck disable=SC2086
		$1 -g -O1 -D_GNU_SOURCE -I. -Wall -Wextra ${2:-} -o "$dir/$source" \
			"tests/tools/$source.c" -Ilib/include -L"$build" -llkdf \
			-lpthread -Wl,-rpath,"$build" >"$dir/log" 2>&1 || return
	done
}

# has_tsan COMPILER
has_tsan() {
	command -v "$1" >/dev/null && echo 'int main(void) { return 0; }' |
		"$1" -fsanitize=thread -x c - -o "$dir/empty" 2>"$dir/log"
}

# check NAME 0|1
check() {
	LKDF_CHECK=yes "$limit" 60 ${no_random:+setarch -R} "$program" "$@" \
		>"$dir/got" 2>&1
}

# rows COMPILER PROGRAM
rows() {
	program=$2
	for name in $("$program"); do
		check "$name" 0
		rc=$?
		[ $rc -eq 66 ] && grep -q 'ThreadSanitizer: data race' "$dir/got"
		ok $? "$1: the race of $name is found" "$dir/got"
		check "$name" 1
		rc=$?
		[ $rc -eq 0 ] && ! grep -q ThreadSanitizer "$dir/got"
		ok $? "$1: $name with the order given is silent" "$dir/got"
	done
}

# judge STATUS PATTERN FACT ARGUMENT...: lkdf check ends so and says so
judge() {
	status=$1 pattern=$2 fact=$3
	shift 3
	"$limit" 120 "$build/lkdf" check "$@" >"$dir/got" 2>&1
	rc=$?
	[ $rc -eq "$status" ] && grep -qE "$pattern" "$dir/got"
	ok $? "lkdf check: $fact" "$dir/got"
}

# json FACT PATTERN ARGUMENT...: it is as its schema says, and has that, on one line
json() {
	fact=$1 pattern=$2
	shift 2
	"$limit" 120 "$build/lkdf" check --json "$@" >"$dir/json" 2>"$dir/log"
	tr -d '\n ' <"$dir/json" >"$dir/got"
	grep -qE "$pattern" "$dir/got"
	ok $? "lkdf check --json: $fact" "$dir/json"
	command -v python3 >/dev/null || return
	python3 tests/tools/schema.py Documentation/schema/check.json \
		"$dir/json" >"$dir/log" 2>&1
	ok $? "lkdf check --json: $fact: the schema allows it"
}

# CHECK_SHARE=I/2: one of the compilers.
case ${CHECK_SHARE-} in
0/2) compilers=gcc ;;
1/2) compilers=clang ;;
*) compilers="gcc clang" ;;
esac
has_tsan gcc && has_tsan clang || compilers="gcc clang"
nr_compilers=0
for cc in $compilers; do
	has_tsan "$cc" || continue
	compile "$cc" -fsanitize=thread
	ok $? "$cc: programs compile"
	nr_compilers=$((nr_compilers + 1))
	rows "$cc" "$dir/check_away"
	rows "$cc" "$dir/check_races"
	LKDF_CHECK=yes "$limit" 60 ${no_random:+setarch -R} \
		"$dir/check_memory" >"$dir/got" 2>&1
	grep -qx kept "$dir/got"
	ok $? "$cc: tokens go with their scope, limit and data" "$dir/got"
	judge 1 'race: task "(sum|set)" and task "(sum|set)"' \
		"$cc: a body beside a kernel" -- "$dir/check_device" 0
	judge 0 'nothing was found' "$cc: a body after it" -- "$dir/check_device" 1
	for seed in 1 2 3; do
		LKDF_ORDER=$seed check value 1
		ok $? "$cc: seed $seed is silent, too" "$dir/got"
	done
	judge 1 '^lkdf check: race: task "(read#1|write#0)" of graph "g", kind ' \
		"$cc: a race, with its tasks" -- "$program" edge 0
	judge 1 '^lkdf check: give them an order: .*lkdf_graph_order' \
		"$cc: the call that would order them" -- "$program" edge 0
	judge 1 '^lkdf check: race: task "(read|write)" and task "(read|write)", in "grid", at ' \
		"$cc: the data is named" -- "$program" data 0
	judge 1 'both say how they use "grid", or .after' \
		"$cc: and what they should say" -- "$program" data 0
	json "$cc: a race" '"races_checked":true.*"race":true.*"data":"grid".*"count":' \
		-- "$program" data 0
	judge 0 '^lkdf check: nothing was found' "$cc: nothing" -- "$program" edge 1
	judge 0 'reports left out' "$cc: a lock that both hold excludes them" \
		-- "$orders" lock 1
	judge 1 'lkdf check: race:' "$cc: a race beside a lock" -- "$orders" lock 0
	judge 0 'reports left out, [0-9]*: of a thread that a body has started; --atomics tells of those' \
		"$cc: a body has a thread of its own" -- "$orders" thread 1
	judge 0 'nothing was found' "$cc: its orders, with --atomics" \
		--atomics -- "$orders" thread 1
	judge 0 'nothing was found' "$cc: a body asks until it may" \
		-- "$orders" again 1
	judge 1 'race: .*task "starter"' "$cc: and its race" \
		--atomics -- "$orders" thread 0
done
[ $nr_compilers -gt 0 ] ||
	skip "races of a program" "no compiler here has -fsanitize=thread"

# A sanitizer that a library loaded later does not see.
if has_tsan gcc && gcc -g -fsanitize=thread -static-libtsan -Wall -Wextra \
	-o "$dir/plugin" tests/tools/check_dlopen.c -ldl 2>"$dir/log"; then
	judge 0 'does not see the sanitizer of .*, which is linked by -static-libtsan' \
		"-static-libtsan and dlopen" -- "$dir/plugin" "$build/liblkdf.so"
else
	skip "-static-libtsan and dlopen" "gcc has no static libtsan"
fi
# With gcc so many fibers take a minute.
if has_tsan clang; then
	judge 0 'check: 4000 bodies wait inside each other: more than the sanitizer has fibers' \
		"too many bodies wait" -- "$orders" deep 0
	judge 0 'nothing was found' "200 do not" -- "$orders" deep 1
fi

# The two programs of the page: the first has a race, which its second one has not.
if has_tsan g++; then
	awk -v to="$dir/page." '
		/^\t/ { nr += !on; on = 1; sub(/^\t/, ""); print >(to nr ".cc"); next }
		/^$/ && on { print >(to nr ".cc"); next }
		{ on = 0 }' Documentation/check.rst
	for at in 1 3; do
		g++ -g -std=c++17 -O1 -fsanitize=thread -Wall -Wextra -Ilib/include \
			-o "$dir/page.$at" "$dir/page.$at.cc" -L"$build" -llkdf \
			-Wl,-rpath,"$build" >"$dir/log" 2>&1
		ok $? "program $at of check.rst compiles"
	done
	judge 1 'race: task "async" and task "async", at .* in operator' \
		"the race of check.rst" -- "$dir/page.1"
	grep -F 'lkdf check: give them' "$dir/got" >"$dir/log"
	grep -qF "$(cat "$dir/log")" Documentation/check.rst
	ok $? "check.rst has the line that it gives"
	judge 0 '^lkdf check: nothing was found' "check.rst, with the data" \
		-- "$dir/page.3"
else
	skip "programs of check.rst" "g++ has no thread sanitizer"
fi

# Programs without a sanitizer: orders and deadlocks.
compile "${CC:-cc}"
ok $? "programs without a sanitizer compile"
check edge 0
rc=$?
[ $rc -eq 0 ] && grep -q '^lkdf: error: check: the program has no thread sanitizer: compile and link it with -fsanitize=thread$' "$dir/got"
ok $? "a program without a sanitizer runs, and is told of it" "$dir/got"
judge 0 'is not compiled with -fsanitize=thread: orders and deadlocks' \
	"a program without a sanitizer" -- "$program" edge 0
judge 0 '^lkdf check: 20 orders have one outcome' "orders that change nothing" \
	--orders 20 -- "$orders" order 1
judge 1 '^lkdf check: LKDF_ORDER=[0-9]+ .* repeats it' \
	"an outcome that depends on the order" --orders 100 -- "$orders" order 0
seed=$(sed -n 's/^lkdf check: LKDF_ORDER=\([0-9]*\) .*/\1/p' "$dir/got")
LKDF_ORDER=1 "$orders" order 0 >"$dir/first"
LKDF_ORDER=${seed:-1} "$orders" order 0 >"$dir/again"
! cmp -s "$dir/first" "$dir/again"
ok $? "the seed that it names has that outcome" "$dir/again"
judge 0 'orders have one outcome' "a body that asks until it may" \
	--orders 20 -- "$orders" again 1
judge 1 '^lkdf check: deadlock with seed 1' "a deadlock" -- "$orders" stuck 0
json "a deadlock" '"races_checked":false.*"seeds":.."seed":1,"deadlock":true' \
	-- "$orders" stuck 0
json "an order with another outcome" '"deadlock":false,"differs":"standardoutput"' \
	--orders 100 -- "$orders" order 0
json "no runtime" '"checked":false' -- true
judge 0 'may block, as "waits", ran in line' "kinds that may block" \
	-- "$orders" blocking 1
judge 0 'may block, as "waits", ran in line' "serial=no and final" \
	-- "$orders" blocking 0
judge 0 'a gang was refused .-EOPNOTSUPP.' "a gang" -- "$orders" gang 0
judge 125 'nothing was checked: true has opened no runtime, or its library' \
	"a program without a runtime" -- true
judge 125 'lkdf is not compiled with -fsanitize=thread' \
	"names of sanitizers in a program's texts mean nothing" -- "$build/lkdf" --version
echo 'int main(void) { return 0; }' >"$dir/plain.c"
if gcc -fsanitize=address -o "$dir/plain" "$dir/plain.c" 2>"$dir/log"; then
	judge 125 'plain has the address sanitizer, not' "the address sanitizer" \
		-- "$dir/plain"
	cp "$dir/plain" "$dir/stripped" && strip "$dir/stripped"
	judge 125 'stripped has the address sanitizer, not' "of a stripped program" \
		-- "$dir/stripped"
else
	skip "the address sanitizer" "gcc has none"
fi
judge 2 'which command' "no command"
judge 2 '.-patience: expected 0 to 86400' "a patience that is none" \
	--patience -1 -- "$orders" stuck 0
judge 127 'cannot start' "a program that is not there" -- "$dir/nowhere"
cp "$orders" "$dir/raised" && chmod u+s "$dir/raised"
judge 2 'set-user-ID' "a program with raised rights" -- "$dir/raised" order 0

echo "1..$nr"
exit $failed
