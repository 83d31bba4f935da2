#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# One node: nothing is far.
exec "$(dirname "$0")/machine.sh" one --kernel 6.1 \
	--nodes 4/512
