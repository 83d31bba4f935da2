#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The ordinary programs of make bench-patterns, a moment of each, with
# liblkdf-malloc.so and with the machine's malloc: what they compute is the same,
# and an allocator that hands a block out twice is noticed. No time is looked at.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"

if ! "${CXX:-g++}" -std=c++17 -O1 -fno-builtin -o "$dir/patterns" \
	tests/bench/malloc/patterns.cc -lpthread >"$dir/log" 2>&1; then
	if command -v "${CXX:-g++}" >/dev/null; then
		ok 1 'the program builds'
	else
		skip 'patterns' 'no C++ compiler'
	fi
	echo "1..$nr"
	exit "$failed"
fi
lib=$build/liblkdf-malloc.so

# asks PRELOAD ARGUMENTS...: the last word is the sum
asks() {
	preload=$1
	shift
	"$limit" 60 env LKDF_MALLOC="${words:-}" LD_PRELOAD="$preload" \
		"$dir/patterns" "$@" >"$dir/out" 2>"$dir/log" </dev/null
}

for row in 'tree 2' 'in-order 2' 'at-random 3' 'vectors 2' 'documents 4' \
	'pair 2' 'pair 4'; do
	# shellcheck disable=SC2086
	asks '' $row 1
	want=$(sed 's/.* //' "$dir/out")
	# shellcheck disable=SC2086
	words=stats asks "$lib" $row 1 &&
		grep -q '^lkdf-malloc: node [0-9]*: used' "$dir/log" &&
		[ -n "$want" ] && [ "$(sed 's/.* //' "$dir/out")" = "$want" ]
	ok $? "$row: the same result by our malloc"
done
grep -qxE '[0-9]+ [0-9]+ [0-9]+ [0-9]+' "$dir/out"
ok $? 'wall time, CPU time, memory and result are printed'

! asks '' pair 3 1 && grep -q 'NAME one of tree in-order' "$dir/log"
ok $? 'a pair of three is refused, with what there is'
! asks '' forest 1
ok $? 'an unknown pattern is refused'

# Small blocks of one ring of 64 KiB, whether the old ones are free or not.
cat >"$dir/twice.c" <<'END'
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
static _Alignas(16) char block[256][256];
static _Atomic(unsigned) at;
void *malloc(size_t size)
{
	return size < 16 || size > 255 ? __libc_malloc(size)
				       : block[atomic_fetch_add(&at, 1) % 256];
}
void free(void *p)
{
	if ((uintptr_t)p - (uintptr_t)block >= sizeof(block))
		__libc_free(p);
}
END
if "${CC:-gcc}" -O1 -fno-builtin -shared -fPIC -o "$dir/twice.so" \
	"$dir/twice.c" >"$dir/log" 2>&1; then
	for row in 'in-order 1' 'at-random 1'; do
		# shellcheck disable=SC2086
		! asks "$dir/twice.so" $row 1 &&
			grep -q 'does not hold what was written' "$dir/log"
		ok $? "$row: a block that has two users is noticed"
	done
else
	ok 1 'a malloc that is wrong builds'
fi

python3 -c '' 2>/dev/null || {
	skip 'the table' 'no python3'
	echo "1..$nr"
	exit "$failed"
}
table() {
	"$limit" 120 python3 tests/bench/malloc/table.py "$@" >"$dir/log" 2>&1
}
table "$dir/patterns" "$lib" --rounds 1 --small tree pair
ok $? 'the table is printed'
for row in tree/1 tree/2 tree/4 pair/2 pair/4; do
	grep -qE "^$row +[0-9.e+]+ +[0-9.]+ .* (yes|no)" "$dir/log"
	ok $? "with the row $row"
done
! grep -q '^vectors' "$dir/log"
ok $? 'and without those not asked for'

# A program that computes something else with one of the allocators.
cat >"$dir/other" <<'END'
#!/bin/sh
echo "1 1 1 ${LD_PRELOAD:+4}5"
END
chmod +x "$dir/other"
! table "$dir/other" "$lib" --rounds 1 tree &&
	grep -q 'tree/1: glibc has computed 5, not 45' "$dir/log"
ok $? 'another result is no row'
! table "$dir/none" "$lib" && grep -q 'a C++ compiler builds it' "$dir/log"
ok $? 'without the program the table says what it needs'
! table "$dir/patterns" "$dir/none.so" && grep -q 'cannot be preloaded' "$dir/log"
ok $? 'nor is there a table without our library'

echo "1..$nr"
[ "$failed" -eq 0 ]
