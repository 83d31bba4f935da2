#!/bin/busybox sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# First process of the machine of vm.sh: mounts what programs expect, loads the
# modules, runs /command on the second serial line and powers off.
/bin/busybox mkdir -p /proc /sys /dev /tmp /run /sbin /usr/bin /usr/sbin
/bin/busybox --install -s
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
mkdir -p /dev/shm
mount -t tmpfs shm /dev/shm
mount -t tmpfs tmp /tmp
mount -t cgroup2 cgroup /sys/fs/cgroup 2>/dev/null
# With the first cpuset the kernel patches its allocator, and its scheduler with
# the first quota that there is, or once there is none: now, and not while the
# tests are using them, see vm.sh. An empty group keeps both.
always=/sys/fs/cgroup/always
for controller in cpuset cpu; do
	echo +$controller >/sys/fs/cgroup/cgroup.subtree_control 2>/dev/null
done
mkdir $always 2>/dev/null &&
	echo 100000 100000 2>/dev/null >$always/cpu.max
export PATH=/bin:/sbin:/usr/bin:/usr/sbin LD_LIBRARY_PATH=/lib HOME=/tmp
# Programs tell by them where they are, and what there must be.
LKDF_VM_NODES=$(cat /nodes) LKDF_VM_DISTANCES=$(cat /distances)
export LKDF_VM_NODES LKDF_VM_DISTANCES
ip link set lo up 2>/dev/null
exec </dev/ttyS1 >/dev/ttyS1 2>&1
[ -f /shell ] || stty -echo -onlcr
echo "LKDF-VM-BOOT $(uname -r)"
for m in /lib/modules/*.ko; do
	[ -f "$m" ] || continue
	insmod "$m" || echo "not ok - insmod $m"
done
# A hang leaves the stacks of all tasks in the kernel's log.
(
	sleep "$(cat /timeout)"
	echo "LKDF-VM-TIMEOUT"
	echo t >/proc/sysrq-trigger
	poweroff -f
) </dev/null &
cd /t || exit 1
# Whoever leads the session of a terminal hangs it up in the end.
if [ -f /shell ]; then
	setsid -c sh -c "$(cat /command)"
	poweroff -f
fi
sh -c "$(cat /command)" </dev/null
rc=$?
echo "LKDF-VM-TAINT $(cat /proc/sys/kernel/tainted)"
echo "LKDF-VM-EXIT $rc"
# Until the line has sent everything.
stty sane
poweroff -f
