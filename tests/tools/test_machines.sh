#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What differs from machine to machine compiles for each that is supported: the
# BPF programs by clang, which needs no other compiler for that, the library
# where one for arm64 is installed. Nothing is run.
# shellcheck source=tests/tools/tap.sh
. "${0%/*}/tap.sh"
bpftool=bpftool
[ ! -x /usr/sbin/bpftool ] || bpftool=/usr/sbin/bpftool

# bpf MACHINE: its programs, linked, are $dir/MACHINE then.
bpf() {
	MAKEFLAGS='' make -s BUILD="$dir/$1" BPF=1 BPF_MACHINE="$1" bpf \
		>"$dir/log" 2>&1
}

# view MACHINE FIELD: its programs read the field of the registers.
view() {
	"$bpftool" btf dump file "$dir/$1/bpf/lkdf_probe.bpf.o" >"$dir/log" \
		2>&1 && grep -A 4 'pt_regs___lkdf' "$dir/log" |
		grep -q "'$2'"
}

# futex MACHINE NUMBER: they compare with that system call.
futex() {
	llvm-objdump -d "$dir/$1/bpf/lkdf_probe.bpf.o" >"$dir/log" 2>&1 &&
		grep -Eq "(==|!=) 0*$2 goto|= 0*$2$" "$dir/log"
}

if MAKEFLAGS='' make -n bpf 2>/dev/null | grep -q 'left out'; then
	skip 'BPF programs compile' 'needs clang, bpftool and libbpf-dev'
else
	bpf x86
	ok $? 'BPF programs compile for x86-64'
	bpf arm64
	ok $? 'and for arm64'
	view x86 orig_ax && ! view x86 syscallno
	ok $? 'on x86-64 they read orig_ax'
	view arm64 syscallno && ! view arm64 orig_ax
	ok $? 'on arm64 syscallno'
	if command -v llvm-objdump >/dev/null; then
		futex x86 202 && ! futex x86 98
		ok $? 'futex is 202 on x86-64'
		futex arm64 98 && ! futex arm64 202
		ok $? 'and 98 on arm64'
	else
		skip 'futex has its number' 'there is no llvm-objdump'
	fi
	readelf -SW "$dir/x86/bpf/lkdf_probe.bpf.o" >"$dir/log" 2>&1
	grep -q 'tp_btf/sched_switch' "$dir/log" &&
		! grep -qE 'sys_(enter|exit)|k(ret)?(probe|syscall)|fentry|fexit' \
			"$dir/log"
	ok $? 'no program hooks system calls or functions of the kernel'
	! bpf s390 && grep -q 'say here where this machine' "$dir/log"
	ok $? 'for another machine: which lines are missing'
fi

# Those that see hwloc or MPI need its headers for the other machine.
cross=aarch64-linux-gnu-gcc
seen='<hwloc\|"mpi/'
[ -e /usr/include/liburing.h ] || seen="$seen\|<liburing"
if command -v $cross >/dev/null; then
	# shellcheck disable=SC2046
	$cross -Ilib/include -Ilib -Ikmod/uapi -Ibpf/uapi -D_GNU_SOURCE \
		-std=c11 -Wall -Wextra -Werror -O2 -fexceptions \
		-mbranch-protection=standard -idirafter /usr/include \
		-fsyntax-only $(grep -L "$seen" lib/*/*.c) >"$dir/log" 2>&1
	ok $? 'the library compiles for arm64'
	[ "$(grep -l '<hwloc' lib/*/*.c | wc -l)" -le 2 ]
	ok $? 'but for what sees hwloc'
else
	skip 'the library compiles for arm64' "there is no $cross"
fi
echo "1..$nr"
exit "$failed"
