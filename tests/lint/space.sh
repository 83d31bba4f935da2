#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# No white space at the end of lines, a newline at the end of files; in comments a
# space behind the star, which clang-format takes where a row of a table is long.
set -u
bad=0
files=$(tests/lint/files.sh | grep -Ev '^LICENSES/|/fixtures/|/corpus/')
[ -n "$files" ] || exit 0
found=$(echo "$files" | tr '\n' '\0' |
	xargs -0 grep -nHIE '[[:blank:]]+$' | cut -d : -f 1,2)
if [ -n "$found" ]; then
	echo "$found" | sed 's/$/: drop the white space at the end/'
	bad=1
fi
for f in $(echo "$files" | tr '\n' '\0' | xargs -0 grep -lI .); do
	[ -n "$(tail -c 1 "$f")" ] || continue
	echo "$f:$(wc -l <"$f"): end the last line with a newline"
	bad=1
done
found=$(echo "$files" | grep -E '\.([ch]|cc|hpp)$' | tr '\n' '\0' |
	xargs -0 grep -nHP '^ \*[^\s/*]' | cut -d : -f 1,2)
if [ -n "$found" ]; then
	echo "$found" | sed 's/$/: a shorter row, and a space behind the star/'
	bad=1
fi
exit $bad
