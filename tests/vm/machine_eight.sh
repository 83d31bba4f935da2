#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Eight nodes in two rows of four; no distances are told.
exec "$(dirname "$0")/machine.sh" eight --kernel 6.12 \
	--nodes 1/256,1/256,1/256,1/256,1/256,1/256,1/256,1/256
