#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Names of files are letters, digits and . _ / + -, which each tool takes without
# quotes. At the top of the tree is what this list has. No file is empty: one that
# is has been made by mistake.
set -u
top='.ci .clang-format .editorconfig .gitignore CONTRIBUTING.md Documentation Kbuild
LICENSES Makefile README.md SECURITY.md bpf kmod lib tests tools'

tests/lint/files.sh | LC_ALL=C awk -v top="$top" '
BEGIN {
	n = split(top, name, /[ \n]+/)
	for (i = 1; i <= n; i++)
		is_known[name[i]] = 1
}
{
	first = $0
	sub(/\/.*/, "", first)
	if (/[^A-Za-z0-9._\/+-]/) {
		gsub(/[^A-Za-z0-9._\/+-]/, "?")
		print $0 ":1: a name has letters, digits and . _ / + - only"
		bad = 1
	} else if (!(first in is_known)) {
		print $0 ":1: names.sh does not list it for the top of the tree"
		bad = 1
	} else if ((getline line <$0) <= 0) {
		print $0 ":1: the file is empty"
		bad = 1
	}
	close($0)
}
END { exit bad }'
