#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# In the machine: runs the programs one after another, each for at most as many
# seconds, between lines that judge.awk knows. guest.sh SECONDS PROGRAM...
# A CPU here is a thread of the emulator: watchdogs get three times the time.
export LKDF_TIME_SCALE=3
limit=$1
shift
for t in "$@"; do
	echo "LKDF-VM-BEGIN $t"
	start=$(cut -d . -f 1 /proc/uptime)
	timeout -k 5 "$limit" "./$t" 2>&1
	rc=$?
	echo "# $(($(cut -d . -f 1 /proc/uptime) - start)) s"
	echo "LKDF-VM-END $t $rc"
done
