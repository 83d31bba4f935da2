#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# No white space at the end of lines, a newline at the end of files.
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
exit $bad
