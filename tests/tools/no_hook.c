/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Preloaded, it is a kernel that does not take the BPF program of that name, as
 * one does that has no such event: NO_HOOK=lkdf_switch.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

static int is_refused(long cmd, const union bpf_attr *attr)
{
	const char *name = getenv("NO_HOOK");

	return name && cmd == BPF_PROG_LOAD &&
	       !strncmp(attr->prog_name, name, sizeof(attr->prog_name) - 1);
}

long syscall(long nr, ...)
{
	long (*next)(long, ...) =
		(long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	long a[6];
	va_list ap;
	int i;

	va_start(ap, nr);
	for (i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (nr == SYS_bpf && is_refused(a[0], (const union bpf_attr *)a[1])) {
		errno = EINVAL;
		return -1;
	}
	return next(nr, a[0], a[1], a[2], a[3], a[4], a[5]);
}
