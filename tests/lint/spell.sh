#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Spelling, with codespell's own list; words of ours are in spell.words.
set -u
command -v codespell >/dev/null || {
	echo "codespell is not installed"
	exit 77
}
tests/lint/files.sh | grep -Ev '^LICENSES/|/fixtures/|/corpus/' | tr '\n' '\0' |
	xargs -0 -r codespell --quiet-level 3 \
		--ignore-words tests/lint/spell.words
