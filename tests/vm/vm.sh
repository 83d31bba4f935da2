#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# vm.sh [option...] -- COMMAND [PATH[:NAME]...]: boots a machine with NUMA
# nodes, puts the files and folders there under these names (without: the last
# part of the path), with the shared libraries that the files need, runs COMMAND
# with sh in the folder they are in, and judges what it said. The machine is QEMU
# without KVM; its only disk is the initramfs that is built here. The kernel
# has a serial line of its own, the command the other one.
#
#   --kernel VERSION     6.1 or 6.12 (6.1)
#   --nodes SPEC         CPUs/MiB of each node (2/256,2/256); 0 is allowed, but
#                        Linux numbers nodes without CPUs last
#   --distances MATRIX   rows by "/": 10,20/21,10; all or none
#   --module FILE        kernel module to load; taints are then expected:
#   --taint N            what /proc/sys/kernel/tainted must say in the end (0)
#   --plugin ARG         of QEMU: path,name=value,... ; its output is plugin.log
#   --append TEXT        more of the kernel's command line
#   --qemu TEXT          more options of QEMU
#   --timeout SECONDS    of the command (180)
#   --boot SECONDS       a machine whose first process has said nothing after so
#                        long is booted again (120)
#   --quiet SECONDS      a machine that says nothing for so long hangs, and is
#                        booted again; longer than COMMAND lets a program run
#   --keep DIR           leave console.log, output.log, plugin.log there
#   --shell              COMMAND is talked to on the terminal, nothing is judged
#
# Output is that of the command, TAP renumbered with one plan, see judge.awk.
# Exit status: 0 all was right; 1 not; 3 no QEMU or no kernel, says which.
set -u
here=$(dirname "$0")
kernel=6.1 nodes=2/256,2/256 distances='' taint=0 plugin='' append='' qemu=''
timeout=180 boot=120 quiet=0 keep='' shell='' modules=''

usage() {
	sed -n '5,/^set -u/s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

die() {
	echo "vm.sh: $*" >&2
	exit 2
}

while [ $# -gt 0 ] && [ "$1" != -- ]; do
	case $1 in
	--shell)
		shell=1
		shift
		continue
		;;
	--*) [ $# -gt 1 ] || usage ;;
	esac
	case $1 in
	--kernel) kernel=$2 ;;
	--nodes) nodes=$2 ;;
	--distances) distances=$2 ;;
	--module) modules="$modules $2" ;;
	--taint) taint=$2 ;;
	--plugin) plugin=$2 ;;
	--append) append=$2 ;;
	--qemu) qemu=$2 ;;
	--timeout) timeout=$2 ;;
	--boot) boot=$2 ;;
	--quiet) quiet=$2 ;;
	--keep) keep=$2 ;;
	*) usage ;;
	esac
	shift 2
done
[ $# -ge 2 ] || usage
shift
command=$1
shift

for tool in qemu-system-x86_64 cpio busybox; do
	command -v "$tool" >/dev/null && continue
	echo "$tool is not installed" >&2
	exit 3
done
image=$("$here/kernel.sh" "$kernel") || exit $?

work=$(mktemp -d) || exit 1
pid=
trap '[ -z "$pid" ] || kill "$pid"; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
root=$work/root
mkdir -p "$root/t" "$root/lib/modules"

# Shared libraries of the programs, flat in /lib, and the loader at its path.
copy_libraries() {
	ldd "$@" 2>/dev/null | awk '
		$2 == "=>" && $3 ~ /^\// { print $3 }
		$1 ~ /^\// && $2 ~ /^\(/ { print $1, "loader" }' | sort -u |
		while read -r file loader; do
			to=/lib
			[ -z "$loader" ] || to=$(dirname "$file")
			mkdir -p "$root$to"
			cp -L "$file" "$root$to/"
		done
	# The C library opens it when a thread is cancelled.
	for file in /lib/*/libgcc_s.so.1; do
		[ ! -f "$file" ] || cp "$file" "$root/lib/"
	done
}

copy_file() {
	case $1 in
	*:*) name=${1##*:} ;;
	*) name=$(basename "$1") ;;
	esac
	mkdir -p "$root/t/$(dirname "$name")"
	cp -rL "${1%:*}" "$root/t/$name"
	[ ! -f "${1%:*}" ] || files="$files ${1%:*}"
}

# Modules are loaded in the order given: their names get a number.
fill_root() {
	n=100 files=
	for f in $modules; do
		n=$((n + 1))
		cp "$f" "$root/lib/modules/$n-$(basename "$f")" || return 1
	done
	for f in "$@"; do
		copy_file "$f" || return 1
	done
	# shellcheck disable=SC2086
	[ -z "$files" ] || copy_libraries $files
	# What is there takes up memory of node 0: nobody debugs it in there.
	find "$root" -path "$root/lib/modules" -prune -o -type f \
		-exec strip -g '{}' + 2>/dev/null
	mkdir -p "$root/bin"
	cp "$(command -v busybox)" "$root/bin/busybox" || return 1
	cp "$here/init.sh" "$root/init"
	chmod 755 "$root/init"
	printf '%s\n' "$command" >"$root/command"
	printf '%s\n' "$timeout" >"$root/timeout"
	printf '%s\n' "$nodes" >"$root/nodes"
	printf '%s\n' "$distances" >"$root/distances"
	[ -z "$shell" ] || touch "$root/shell"
	(cd "$root" && find . | cpio -o -H newc -R +0:+0 --quiet | gzip -1) \
		>"$work/initramfs"
}

fill_root "$@" || die "cannot build the initramfs"

# Options of QEMU for the nodes: sets cpus, memory, sockets, numa.
plan_nodes() {
	numa='' cpus=0 memory=0 n=0 per='' late=''
	for node in $(echo "$nodes" | tr , ' '); do
		c=${node%/*} m=${node#*/}
		numa="$numa -numa node,nodeid=$n"
		if [ "$c" -gt 0 ]; then
			[ -z "$late" ] || die "$nodes: nodes without CPUs come last"
			numa="$numa,cpus=$cpus-$((cpus + c - 1))"
			per="$per $c"
		else
			late=1
		fi
		if [ "$m" -gt 0 ]; then
			numa="$numa,memdev=m$n -object"
			numa="$numa memory-backend-ram,id=m$n,size=${m}M"
		fi
		cpus=$((cpus + c)) memory=$((memory + m)) n=$((n + 1))
	done
	# Sockets and nodes must agree, or the kernel warns and is tainted.
	# shellcheck disable=SC2086
	if [ "$(printf '%s\n' $per | sort -u | wc -l)" = 1 ]; then
		sockets=$((cpus / ${per##* }))
	else
		sockets=$cpus
	fi
	[ -z "$distances" ] && return
	i=0
	for row in $(echo "$distances" | tr / ' '); do
		j=0
		for d in $(echo "$row" | tr , ' '); do
			[ $i = $j ] ||
				numa="$numa -numa dist,src=$i,dst=$j,val=$d"
			j=$((j + 1))
		done
		[ $j = $n ] || die "$distances: $j distances for $n nodes"
		i=$((i + 1))
	done
	[ $i = $n ] || die "$distances: $i rows for $n nodes"
}

plan_nodes
[ -z "$plugin" ] || plugin="-plugin $plugin -d plugin -D $work/plugin.log"
serial=stdio
[ -z "$shell" ] || serial=mon:stdio

# The kernel counts ticks for some ms to see whether its timer works: on a busy
# host none may come, and it would panic. Hence no_timer_check.
# shellcheck disable=SC2086
boot() {
	exec timeout --foreground -k 5 $((boot + timeout + 30)) qemu-system-x86_64 \
		-accel tcg,thread=multi -cpu max -nodefaults -display none \
		-no-reboot -m ${memory}M $numa $plugin $qemu \
		-smp $cpus,sockets=$sockets,cores=$((cpus / sockets)),threads=1 \
		-kernel "$image" -initrd "$work/initramfs" \
		-serial "file:$work/console.log" -serial "$serial" \
		-append "console=ttyS0 panic=-1 oops=panic panic_on_warn=1 \
watchdog_thresh=60 no_timer_check $append"
}

# Sets why if it was ended because it said nothing for too long.
boot_watched() {
	why='' is_booted='' limit=$boot
	what='did not come to its first process in'
	still=0 size=0
	boot </dev/null >"$work/output.log" 2>&1 &
	pid=$!
	while kill -0 $pid 2>/dev/null; do
		sleep 1
		now=$(wc -c <"$work/output.log")
		still=$((now == size ? still + 1 : 0)) size=$now
		if [ -z "$is_booted" ] &&
			grep -q LKDF-VM-BOOT "$work/output.log"; then
			is_booted=1 limit=$quiet what='said nothing for'
		fi
		if [ "$limit" -gt 0 ] && [ $still -gt "$limit" ]; then
			why="the machine $what $limit seconds"
			kill $pid 2>/dev/null
		fi
	done
	wait $pid
	echo $? >"$work/status"
	pid=
}

if [ -n "$shell" ]; then
	timeout=86400
	boot
fi
# The kernel patches its own code by way of a breakpoint. With several threads
# QEMU may run code from before that, and the kernel dies of a breakpoint that is
# gone. Nothing else makes this line; such a machine is booted again. Or a CPU is
# sent back to that breakpoint for ever: before the first process, where nothing
# of ours runs yet, or all of it stands still, timers too, so that COMMAND's own
# limits end nothing any more.
for try in 1 2 3; do
	boot_watched
	! grep -q 'Oops: int3' "$work/console.log" ||
		why="the emulator ran code that the kernel had patched"
	[ -n "$why" ] || break
	echo "# note: boot $try: $why, the last words:" \
		"$(cat "$work/console.log" "$work/output.log" |
			grep -v '^qemu-system' | tail -n 1)"
done
if [ -n "$keep" ]; then
	mkdir -p "$keep"
	cp "$work"/*.log "$keep/"
fi
awk -f "$here/judge.awk" -v want_taint="$taint" \
	-v config="linux-$kernel,nodes=$nodes" \
	-v status="$(cat "$work/status")" "$work/console.log" "$work/output.log"
