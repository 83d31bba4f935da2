#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# All scripts that start with #!/bin/sh, through shellcheck. SC2319: "[ A -eq B ]" and
# then "ok $?" is how these tests say a fact.
set -u
command -v shellcheck >/dev/null || {
	echo "shellcheck is not installed"
	exit 77
}
CHANGED=${LINT_CHANGED-} tests/lint/files.sh | grep -Ev '/fixtures/|\.(c|h|cc|py|rst|md)$' |
	tr '\n' '\0' | xargs -0 -r grep -lE -m 1 '^#! ?/bin/(ba)?sh' |
	tr '\n' '\0' | xargs -0 -r shellcheck -x --exclude=SC2319 --format=gcc
