#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The layout is what clang-format 14 prints; another version may print another.
# It breaks a ruler that is too long in two: a ruler is one line.
set -u
command -v clang-format >/dev/null || {
	echo "clang-format is not installed"
	exit 77
}
version=$(clang-format --version | sed 's/.*version \([0-9]*\).*/\1/')
[ "$version" = 14 ] || {
	echo "clang-format is version $version, the layout is version 14's"
	exit 77
}
files=$(CHANGED=${LINT_CHANGED-} tests/lint/files.sh | grep -E '\.(c|h|cc|hpp)$' | grep -v '/fixtures/')
{
	echo "$files" | tr '\n' '\0' |
		xargs -0 -r -n 16 -P 2 clang-format --dry-run -Werror 2>&1 |
		grep 'error:' | sed 's/error: .*/run clang-format -i on it/' |
		sort -u
	echo "$files" | tr '\n' '\0' |
		xargs -0 -r grep -nH '^/\* ---- ' | grep -v '\*/$' |
		sed 's/^\([^:]*:[0-9]*\):.*/\1: shorten the ruler to one line/'
} | awk '{ print } END { exit NR > 0 }'
