#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# first.sh TEXT [NR]: the first findings of a report's text, one if not told.
awk -v nr="${2:-1}" '
	/^What costs most/ { on = 1; next }
	on && (/^$/ || $0 ~ "^ *" nr + 1 "  ") { exit }
	on
' "${1:?usage: first.sh TEXT [NR]}"
