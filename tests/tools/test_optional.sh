#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# A program that treats lkdf as optional: built with the library, and without
# it by the header that it has a copy of, it prints the same.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh
source=Documentation/examples/optional/main.c

as_it_says $source
"${CC:-gcc}" -std=c11 -Wall -Wextra -Werror -O2 -DWITHOUT_LKDF \
	-o "$dir/program" $source >"$dir/log" 2>&1
ok $? "main.c compiles without lkdf"
! ldd "$dir/program" | grep -q liblkdf
ok $? "it does not need the library then"
run "it prints the same without lkdf" LKDF_TRACE=
if command -v python3 >/dev/null; then
	quotes Documentation/optional.rst Documentation/examples/optional
else
	skip "the page shows code that its program has" "no python3"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
