#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of Documentation/patterns.rst and ports.rst: each checks its
# result against a serial computation, and prints what its first comment says.
# The reusable engine of the ports takes no memory from its second run on.
# shellcheck source=tests/api/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/api/example.sh
. tests/api/example.sh
examples=Documentation/examples

for f in Documentation/examples/flow/*.c Documentation/examples/flow/*.cc \
	Documentation/examples/ports/main.cc tests/api/hpp.cc \
	tests/api/hpp_channel.cc Documentation/examples/guide/sums.c; do
	as_it_says "$f"
	[ -x "$dir/program" ] || continue
	run "$(basename "$f") prints that with four workers" LKDF_WORKERS=4
	run "$(basename "$f") prints that on one thread" LKDF_SERIAL=yes
done

wanted tests/api/counted.cc >"$dir/want"
CFLAGS="${CFLAGS:-} -I$examples/ports" compile tests/api/counted.cc
ok $? "counted.cc compiles without a warning"
for workers in 1 2 4; do
	fact="no run of the reusable engine takes memory, $workers workers"
	if LKDF_WORKERS=$workers "$dir/program" | grep -q SKIP; then
		skip "$fact" "calls of malloc cannot be counted here"
	else
		run "$fact" LKDF_WORKERS=$workers LKDF_TRACE=
	fi
done

compile $examples/guide/stuck.c
ok $? "stuck.c compiles without a warning"
timeout -k 5 60 "$dir/program" >"$dir/got" 2>&1
ok $? "stuck.c ends where nobody says --for-ever" "$dir/got"
grep -qxF 'task "count" waits before it starts, for an event that the program '\
'fires, 1 signal to come' "$dir/got"
ok $? "it prints what debugging.rst says" "$dir/got"
if command -v python3 >/dev/null; then
	quotes Documentation/patterns.rst $examples/flow
	for page in choosing debugging migrating ownership service tuning; do
		quotes Documentation/$page.rst $examples
	done
else
	skip "pages show code that their programs have" "no python3"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
