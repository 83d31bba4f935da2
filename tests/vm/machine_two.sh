#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Two nodes.
exec "$(dirname "$0")/machine.sh" two --kernel 6.12 \
	--nodes 2/256,2/256 \
	--distances 10,21/21,10
