#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of Documentation/first.rst, taken from the page as they stand there:
# each compiles without a warning and prints what the page says next, in C++ and in C;
# its report and lkdf try name no fault that it has not.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh

judge=is_judged
page_programs Documentation/first.rst 35 40 LKDF_TRACE= LKDF_WORKERS=1 \
	LKDF_WORKERS=4 LKDF_SERIAL=yes
[ "$programs" -eq 10 ]
ok $? "the page has five programs in C++ and in C"
echo "1..$nr"
[ "$failed" -eq 0 ]
