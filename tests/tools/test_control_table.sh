#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The table of make bench-control, from programs that answer what they are told:
# figures of an iteration, figures from before, and "-" for who is absent.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

python3 -c '' 2>/dev/null || {
	skip 'the table' 'no python3'
	echo "1..$nr"
	exit 0
}
mkdir "$dir/peers"

# An iteration takes 5 ns.
cat >"$dir/peers/peer_lkdf_control" <<'END'
#!/bin/sh
read -r what shape nr workers
[ "$what $shape $workers" = 'control loop 1' ] || exec echo 'error no such shape'
echo "ok $((nr * 5)).000"
END
# This one has no loop.
cat >"$dir/peers/peer_tbb_control" <<'END'
#!/bin/sh
read -r line
echo "error unknown: $line"
END
# 100 instructions an iteration, and a start.
cat >"$dir/valgrind" <<'END'
#!/bin/sh
[ "$1" = --version ] && exit 0
for program; do :; done
read -r line
echo "$line" | "$program"
# shellcheck disable=SC2086
set -- $line
echo "==1== Collected : $((5000000 + $3 * 100))" >&2
END
chmod +x "$dir"/peers/* "$dir/valgrind"

VALGRIND=$dir/valgrind python3 tests/bench/control_table.py "$dir/peers" \
	--quick --rounds 2 >"$dir/log" 2>&1
ok $? 'the table is printed'
grep -q '^loop  ns    5     20\.6  -         15\.3  -    -$' "$dir/log"
ok $? 'ns of an iteration, beside the old ones'
grep -q '^loop  instructions  100   -    -         -    -    -$' "$dir/log"
ok $? 'instructions of an iteration, without the start'

rm "$dir/valgrind"
VALGRIND=$dir/valgrind python3 tests/bench/control_table.py "$dir/peers" \
	--quick --rounds 2 >"$dir/log" 2>&1 &&
	grep -q '^instructions: no valgrind' "$dir/log"
ok $? 'without valgrind there are times only, and it says so'

echo "1..$nr"
[ "$failed" -eq 0 ]
