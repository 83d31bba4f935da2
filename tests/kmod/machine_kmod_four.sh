#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The module on Debian's 6.1, four nodes: one without memory, one without CPUs.
exec "$(dirname "$0")/machine.sh" kmod_four 6.1 \
	--nodes 2/512,2/512,2/0,0/256 \
	--distances 10,16,22,28/17,10,22,28/22,23,10,16/28,29,17,10
