#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The module on Debian's 6.12, two nodes, a huge page of 1 GiB.
# Where the kernel lies is not left to chance: it could lie in that page.
exec "$(dirname "$0")/machine.sh" kmod_two 6.12 --nodes 2/1024,2/2560 \
	--append "nokaslr hugepagesz=1G hugepages=1 movablecore=1G"
