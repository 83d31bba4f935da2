#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The files that the checks look at, one per line: what git tracks or would
# track; outside a repository everything but build directories. Arguments are
# folders or files to keep; none keeps all.
set -u
if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = "" ]; then
	git ls-files --cached --others --exclude-standard -- "$@" | sort -u
else
	for top in "${@:-.}"; do
		[ ! -e "$top" ] || find "$top" -name .git -prune -o \
			-name __pycache__ -prune -o -path './build*' -prune -o \
			\( -type f -o -type l \) -print
	done | sed 's|^\./||' | sort -u
fi | while IFS= read -r f; do
	[ ! -f "$f" ] || printf '%s\n' "$f"
done
