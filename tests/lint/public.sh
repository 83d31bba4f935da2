#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Public headers see standard and public headers only; tools and tests/api see
# the system, public headers, their own folder, tests/tap.h and the kernel
# module's uapi.
set -u
# shellcheck disable=SC2016
tests/lint/files.sh lib/include tools tests/api | grep -E '\.(c|h|cc)$' |
	tr '\n' '\0' | xargs -0 -r awk '
BEGIN { bad = 0 }
function say(text)
{
	printf "%s:%d: %s\n", FILENAME, FNR, text
	bad = 1
}
FNR == 1 {
	folder = FILENAME
	sub(/\/[^\/]*$/, "", folder)
}
function is_ours(path,    line, rc)
{
	rc = (getline line < path) >= 0
	close(path)
	return rc
}
/^[ \t]*#[ \t]*include[ \t]*["<]/ {
	inc = $0
	sub(/^[^"<]*["<]/, "", inc)
	sub(/[">].*/, "", inc)
	quoted = $0 ~ /include[ \t]*"/
	if (FILENAME ~ /^lib\/include\//) {
		if (quoted)
			say("public headers include <lkdf/...> or <std.h>")
		else if (inc ~ /^lkdf\// && !is_ours("lib/include/" inc))
			say("<" inc "> is no public header")
		else if (inc ~ /^(hwloc|numa|liburing|linux|cuda)/)
			say("users of a public header need not have <" inc ">")
		next
	}
	if (is_ours("lib/" inc) && inc !~ /^lkdf\//)
		say("\"" inc "\" is internal: use <lkdf/...>")
	else if (quoted && inc ~ /\// && inc !~ /^(tests|kmod\/uapi)\// &&
		 !is_ours(folder "/" inc) && !is_ours("tools/" inc))
		say("\"" inc "\" is not a public header")
	else if (inc ~ /\.\.\//)
		say("\"" inc "\": no way out of the folder")
	else if (inc ~ /^tests\/(unit|mc)/)
		say("\"" inc "\" belongs to tests that see internals")
}
END { exit bad }'
