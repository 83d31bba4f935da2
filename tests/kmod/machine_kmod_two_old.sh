#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The module on Debian's 6.1, two nodes.
exec "$(dirname "$0")/machine.sh" kmod_two_old 6.1 --nodes 2/512,2/512
