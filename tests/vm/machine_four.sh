#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Four nodes: the way back is longer, one has no memory, one no CPUs.
exec "$(dirname "$0")/machine.sh" four --kernel 6.1 \
	--nodes 2/256,2/256,2/0,0/256 \
	--distances 10,16,22,28/17,10,22,28/22,23,10,16/28,29,17,10
