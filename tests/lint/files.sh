#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The files that the checks look at and that make dist packs, one per line: what
# git tracks or would track; outside a repository the same without git, which
# leaves out what .gitignore names. Arguments are folders or files to keep; none
# keeps all. names.sh refuses a name that a line cannot hold.
#
# CHANGED=1 keeps those that differ from the commit before the last one, for checks
# that take long and look at one file at a time: make quick sets LINT_CHANGED.
set -u
if [ -n "${CHANGED-}" ] && git rev-parse -q --verify HEAD~1 >/dev/null 2>&1; then
	unset CHANGED
	{
		git -c core.quotePath=off diff --name-only HEAD~1
		git -c core.quotePath=off ls-files --others --exclude-standard
	} | sort -u | while IFS= read -r f; do
		[ ! -f "$f" ] || printf '%s\n' "$f"
	done
	exit
fi
if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = "" ]; then
	git -c core.quotePath=off ls-files -z --cached --others \
		--exclude-standard -- "$@" | tr '\0' '\n'
else
	for top in "${@:-.}"; do
		[ ! -e "$top" ] || find "$top" -name .git -prune -o \
			-name __pycache__ -prune -o -path './build*' -prune -o \
			-path ./.gpu -prune -o -path ./compile_commands.json -o \
			\( -type f -o -type l \) -print
	done | sed 's|^\./||'
fi | sort -u | while IFS= read -r f; do
	[ ! -f "$f" ] || printf '%s\n' "$f"
done
