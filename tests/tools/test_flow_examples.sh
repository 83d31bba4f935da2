#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of Documentation/patterns.rst and ports.rst: each checks its
# result against a serial computation, and prints what its first comment says.
# The reusable engine of the ports takes no memory from its second run on. The
# C++ compiler refuses ports that do not fit, and says why.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
examples=Documentation/examples

for f in Documentation/examples/flow/*.c Documentation/examples/flow/*.cc \
	Documentation/examples/cpp/*.cc \
	Documentation/examples/ports/main.cc tests/tools/hpp.cc \
	tests/tools/hpp_channel.cc tests/tools/hpp_faults.cc \
	tests/tools/hpp_task.cc tests/tools/hpp_inside.cc tests/tools/hpp_mark.cc \
	tests/tools/hpp_members.cc tests/tools/hpp_algorithm.cc \
	Documentation/examples/guide/sums.c; do
	as_it_says "$f"
	[ -x "$dir/program" ] || continue
	run "$(basename "$f") prints that with four workers" LKDF_WORKERS=4
	run "$(basename "$f") prints that on one thread" LKDF_SERIAL=yes
done

# Each public name of the headers in one of the programs that tests run.
if command -v python3 >/dev/null; then
	python3 tests/tools/hpp_members.py lib/include/lkdf/*.hpp -- \
		tests/tools/hpp*.cc "$examples"/cpp/*.cc "$examples"/co/*.cc \
		>"$dir/log" 2>&1
	ok $? "each public name of the C++ headers has a program" "$dir/log"
else
	skip "each public name of the C++ headers has a program" "no python3"
fi

wanted tests/tools/counted.cc >"$dir/want"
CFLAGS="${CFLAGS:-} -I$examples/ports" compile tests/tools/counted.cc
ok $? "counted.cc compiles without a warning"
for workers in 1 2 4; do
	fact="no run of the reusable engine takes memory, $workers workers"
	if LKDF_WORKERS=$workers "$dir/program" | grep -q SKIP; then
		skip "$fact" "calls of malloc cannot be counted here"
	else
		run "$fact" LKDF_WORKERS=$workers LKDF_TRACE=
	fi
done

# snippet LINES: $dir/snippet.cc, whose function build() has these lines
snippet() {
	cat >"$dir/snippet.cc" <<-END
		#include <lkdf/lkdf.hpp>
		#include <string>
		struct small { char byte[LKDF_MAX_VALUE]; };
		struct large { char byte[LKDF_MAX_VALUE + 1]; };
		void build(lk::graph &g);
		void build(lk::graph &g)
		{
		$1
		}
		int main()
		{
			lk::runtime rt;
			lk::graph g(rt);
			build(g);
			g.seal();
			g.run();
		}
	END
}

# refused FACT REASON LINES: they do not compile, and the compiler says REASON
refused() {
	snippet "$3"
	! compile "$dir/snippet.cc" && grep -qE "$2" "$dir/log"
	ok $? "C++: $1 does not compile"
}

ints='auto sink = g.add("sink", [](int v) { (void)v; });'
snippet 'auto x = g.add("x", [] { return small{}; });
	auto y = g.add("y", [](small v) { return v.byte[0] + 2; });
	'"$ints"'
	g.connect(lk::out(x), lk::in(y));
	g.connect(lk::out(y), lk::in(sink));'
compile "$dir/snippet.cc" && "$limit" 60 "$dir/program" >"$dir/log" 2>&1
ok $? "C++: ports that fit compile and run, up to LKDF_MAX_VALUE bytes"
refused 'out<double> to in<int>' 'no matching (member )?function.*connect|deduced conflict' \
	'auto x = g.add("x", [] { return 3.0; });
	'"$ints"'
	g.connect(lk::out(x), lk::in(sink));'
refused 'a first value of another type' 'no matching (member )?function.*next|deduced conflict' \
	'auto x = g.add("x", [](int v) { return v; });
	g.next(lk::out(x), lk::in(x), 3.0);'
refused 'a port that the task does not have' 'tuple' \
	'auto x = g.add("x", [] { return 3; });
	'"$ints"'
	g.connect(lk::out<1>(x), lk::in(sink));'
refused 'a value that is too large' 'at most LKDF_MAX_VALUE bytes' \
	'g.add("x", [] { return large{}; });'
refused 'a value that is no plain bytes' 'travels as bytes' \
	'g.add("x", [] { return std::string("x"); });'

refused 'a generic callable' 'has no ports: give its parameters types' \
	'g.add("x", [](auto v) { (void)v; });'
refused 'a shared task that is not const' 'its callable is const' \
	'g.shared("x", [n = 0](int v) mutable { n += v; });'
two='auto x = g.add("x", [] { return 1; });
	auto y = g.add("y", [](int v) { return v; });'
refused 'a choice by a task that returns an int' 'returns lk::branch' \
	"$two g.choose(x, 0, y);"
refused 'a loop by one' 'returns lk::branch' "$two g.back(y, 0, x);"
refused 'a branch with a value of one' 'returns lk::branch' \
	"$two g.connect_branch(0, lk::out(x), lk::in(y));"
refused 'a value that is aligned to more than 64 bytes' 'aligned to 64 bytes' \
	'struct alignas(128) wide { char byte[128]; };
	g.add("x", [] { return wide{}; });'

refused 'a runtime with a number' 'lk::runtime rt.*workers=4' \
	'(void)g; lk::runtime four(4);'
refused 'async with a copy for a reference' 'write std::ref' \
	'(void)g; lk::runtime rt; int x = 0;
	rt.async([](int &v) { v++; }, x);'
refused 'async with too many arguments' 'as many arguments as it has' \
	'(void)g; lk::runtime rt; rt.async([](int v) { return v; }, 1, 2);'
refused 'a sum of doubles in an int' 'write 0.0 or 0L in place of 0' \
	'(void)g; lk::runtime rt;
	rt.reduce(0, 9, 0, [](double s, size_t i) { return s + i * 0.5; });'
snippet '(void)g; lk::runtime one(NULL), two(nullptr), three("workers=1");
	int x = 0;
	one.async([](int &v) { v++; }, std::ref(x)).get();
	one.async(lk::with("add"), [](int v) { return v; }, 1).get();'
compile "$dir/snippet.cc"
ok $? "C++: a runtime with NULL, async with std::ref() and with a name compile"
snippet ''
! CFLAGS="${CFLAGS:-} -fno-exceptions" compile "$dir/snippet.cc" &&
	grep -q 'compile without -fno-exceptions' "$dir/log"
ok $? "C++: without exceptions the headers say what to do"

compile $examples/guide/stuck.c
ok $? "stuck.c compiles without a warning"
"$limit" 60 "$dir/program" >"$dir/got" 2>&1
ok $? "stuck.c ends where nobody says --for-ever" "$dir/got"
grep -qxF 'task "count" waits before it starts, for an event that the program '\
'fires, 1 signal to come' "$dir/got"
ok $? "it prints what debugging.rst says" "$dir/got"
if command -v python3 >/dev/null; then
	quotes Documentation/patterns.rst $examples/flow
	quotes Documentation/cpp.rst $examples/cpp
	for page in choosing debugging migrating ownership service tuning; do
		quotes Documentation/$page.rst $examples
	done
else
	skip "pages show code that their programs have" "no python3"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
