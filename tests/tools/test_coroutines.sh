#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Coroutines: the programs of Documentation/coroutines.rst and what coroutines
# await, throw and keep. Awaits that are wrong do not compile, and the compiler
# says why.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
examples=Documentation/examples

cat >"$dir/probe.cc" <<-END
	#ifndef __cpp_impl_coroutine
	#error "no coroutines"
	#endif
	#include <coroutine>
	int main()
	{
	}
END
std=c++20
if ! compile "$dir/probe.cc"; then
	skip "coroutines" "the C++ compiler has none"
	echo "1..$nr"
	exit 0
fi

for f in "$examples"/co/*.cc tests/tools/hpp_co.cc \
	tests/tools/hpp_co_cancel.cc tests/tools/hpp_co_inside.cc \
	tests/tools/hpp_co_edges.cc tests/tools/hpp_co_seen.cc \
	tests/tools/hpp_algorithm.cc; do
	as_it_says "$f"
	[ -x "$dir/program" ] || continue
	run "$(basename "$f") prints that with four workers" LKDF_WORKERS=4
	run "$(basename "$f") prints that on one thread" LKDF_SERIAL=yes
done

# refused FACT REASON LINE: a coroutine with that line does not compile
refused() {
	cat >"$dir/snippet.cc" <<-END
		#include <lkdf/co.hpp>
		lk::co<> waits(lk::co<int> other);
		lk::co<> waits(lk::co<int> other)
		{
		$3
		}
		int main()
		{
		}
	END
	! compile "$dir/snippet.cc" && grep -qE "$2" "$dir/log"
	ok $? "C++: $1 does not compile"
}

refused "an await of a coroutine that may be awaited again" \
	"std::move|co_await" 'co_await other;'
refused "a result that nobody takes" "nodiscard" \
	'(void)other; lk::fork(std::move(other)); co_return;'
if command -v python3 >/dev/null; then
	quotes Documentation/coroutines.rst $examples/co
else
	skip "the page shows code that its programs have" "no python3"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
