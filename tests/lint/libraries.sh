#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Each library that liblkdf is linked with, loads, or calls where a program has
# it stands in the table of Documentation/security.rst, which says what a program
# with raised rights does about the library's own variables. Each test that the page
# names is there.
set -u
page=Documentation/security.rst
bad=0

# named WHERE NAME
named() {
	grep -q "^\`\`$2" "$page" && return
	echo "$1: $2 has no row in $page"
	bad=1
}

[ -f lib/lib.mk ] || exit 0
for name in $(sed -n 's/^[A-Z]*_LIBS *:= *//p' lib/lib.mk | tr ' ' '\n' |
	sed -n 's/^-l//p'); do
	named lib/lib.mk:1 "$name"
done
for file in $(tests/lint/files.sh lib | grep '\.c$' | tr '\n' '\0' |
	xargs -0 -r grep -lE '\<dlm?open *\('); do
	named "$file:1" "$(echo "$file" | sed 's#^lib/##; s#\.c$##')"
done
called=$(sed -n 's/.*find_library("\([a-z]*_\).*/\1/p' lib/base/foreign.c \
	2>/dev/null | sort -u)
for name in $called; do
	named lib/base/foreign.c:1 "$name"
done
tests=$(grep -o 'tests/[a-z_/]*\.[a-z]*' "$page" 2>/dev/null | sort -u)
for name in $tests; do
	[ -f "$name" ] && continue
	echo "$page:1: there is no $name"
	bad=1
done
exit $bad
