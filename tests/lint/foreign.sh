#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# One foreign dependency, one place. Each row: what, where it may be, a grep
# pattern for lines outside comments.
set -u
files=$(tests/lint/files.sh lib tools kmod | grep '\.[ch]$')
[ -n "$files" ] || exit 0
bad=0

# only NAME PLACES PATTERN [FILES]
only() {
	found=$(echo "$files" | grep -E "${4:-^lib/}" | grep -Ev "$2" |
		tr '\n' '\0' | xargs -0 -r grep -nHE "$3" |
		grep -Ev '^[^:]*:[0-9]*:[ 	]*(/?\*|//)')
	[ -n "$found" ] || return 0
	place=$(echo "$2" | sed 's/[$^()\\]//g')
	echo "$found" | sed -E "s#^([^:]*:[0-9]*):.*#\1: $1 belongs in $place#"
	bad=1
}

inc='^[ 	]*#[ 	]*include[ 	]*[<"]'
only liburing '^lib/ring/' "${inc}liburing|\<io_uring_[a-z_]+ *\("
only 'io_uring of the kernel' '^lib/ring/' "${inc}linux/io_uring"
only libnuma '^lib/mem/' "${inc}numa(if|compat[0-9]*)?\.h"
only 'moving memory' '^lib/mem/' \
	'\<(mbind|move_pages|set_mempolicy|migrate_pages) *\(|SYS_(mbind|move_pages|set_mempolicy|migrate_pages)'
only hwloc '^lib/topo/' "${inc}hwloc|\<hwloc_[a-z_]+"
# /proc/sys is another one.
only /sys '^lib/(topo|mpi)/' '"([^"]*[^c"])?/sys/(devices|fs|class|bus|block|kernel|firmware|module)'
only CUDA '^lib/cuda/' "${inc}(cuda[A-Za-z_]*\.h|nvml|cublas)|\<cu(da)?(Init|Malloc|Launch|Mem|Stream|Ctx|Device|Event)[A-Za-z]* *\("
only OpenCL '^lib/opencl/' \
	"${inc}CL/|\<cl(Get|Create|Release|Enqueue|Set|Build|Flush|Finish)[A-Za-z]* *\("
only 'bpf(2)' '^lib/signal/' "${inc}linux/bpf\.h|SYS_bpf|__NR_bpf"
only 'the kernel module interface' '^lib/signal/' "${inc}.*lkdf_kmod\.h"
only libbpf '^tools/' "${inc}(bpf/(libbpf|bpf)\.h|.*\.skel\.h)" '^lib/'
only 'mapping what others have' '^tools/(foreign\.c|probe/pins\.c|bench/)' \
	'\<mmap *\(.*(MAP_SHARED|fd)' '^tools/'
only 'loading a library' '^lib/(api/hooks|check/tsan|opencl/load|cuda/(load|rtc))\.c$' \
	'\<dlm?open *\('
only getenv '^lib/(api/(config|rank)|cuda/rtc|malloc/[a-z_]*|gomp/(settings|pool))\.c$' \
	'\<(secure_)?getenv *\(|\<environ\>'
only 'getenv(), not secure_getenv(),' '^lib/api/config\.c$' '\<getenv *\('
only "the kernel's version" '^kmod/compat\.h$' \
	"\<(LINUX_VERSION_CODE|KERNEL_VERSION)\>|${inc}linux/version\.h" '^kmod/'
exit $bad
