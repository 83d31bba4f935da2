/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations of the system: whether they run on rings or on threads and why,
 * as the library itself says it, and what the kernel's io_uring has, asked by
 * using it. Numbers that are newer than the headers stand here.
 */
#include "doctor/doctor.h"

#include <lkdf/lkdf.h>

#include <errno.h>
#include <linux/io_uring.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Features that may be there: a flag of io_uring_setup(), or an operation. */
static const struct io_feature {
	const char *name;
	unsigned flags, op;
} features[] = {
	{ "sqpoll", IORING_SETUP_SQPOLL, 0 },
	{ "coop_taskrun", IORING_SETUP_COOP_TASKRUN, 0 },
	{ "single_issuer", IORING_SETUP_SINGLE_ISSUER, 0 },
	{ "defer_taskrun",
	  IORING_SETUP_SINGLE_ISSUER | IORING_SETUP_DEFER_TASKRUN, 0 },
	{ "no_sqarray", 1u << 16, 0 },
	{ "read_multishot", 0, 49 },
	{ "futex", 0, 51 },
	{ "ftruncate", 0, 55 },
	{ "bind", 0, 56 },
};
#define NR_FEATURES (sizeof(features) / sizeof(features[0]))
#define NR_OPS 64

/* The kernel's answer: its head, and a row for each operation. */
union op_probe {
	struct io_uring_probe head;
	unsigned char bytes[sizeof(struct io_uring_probe) +
			    NR_OPS * sizeof(struct io_uring_probe_op)];
};

/* A descriptor, or -errno. */
static int open_ring(unsigned flags)
{
	struct io_uring_params params;
	long fd;

	memset(&params, 0, sizeof(params));
	params.flags = flags;
	fd = syscall(SYS_io_uring_setup, 4, &params);
	return fd < 0 ? -errno : (int)fd;
}

static int has_flags(unsigned flags)
{
	int fd = open_ring(flags);

	if (fd < 0)
		return 0;
	close(fd);
	return 1;
}

static int has_op(const union op_probe *p, unsigned op)
{
	return op <= p->head.last_op &&
	       p->head.ops[op].flags & IO_URING_OP_SUPPORTED;
}

static void list_features(int fd, char *has, char *lacks, size_t size)
{
	union op_probe p;
	size_t i, used[2] = { 0, 0 };
	char *to[2] = { lacks, has };
	int is_there;

	memset(&p, 0, sizeof(p));
	if (syscall(SYS_io_uring_register, fd, IORING_REGISTER_PROBE, &p,
		    NR_OPS))
		p.head.last_op = 0;
	*has = *lacks = '\0';
	for (i = 0; i < NR_FEATURES; i++) {
		is_there = features[i].flags ? has_flags(features[i].flags)
					     : has_op(&p, features[i].op);
		if (used[is_there] < size)
			used[is_there] +=
				(size_t)snprintf(to[is_there] + used[is_there],
						 size - used[is_there], " %s",
						 features[i].name);
	}
}

void probe_io_uring(struct finding *f)
{
	char has[128], lacks[128];
	int fd = open_ring(0);

	if (fd < 0) {
		finding_say(f, fd == -ENOSYS ? DOCTOR_NONE : DOCTOR_WARN,
			    "io_uring: io_uring_setup: %s", strerror(-fd));
		return;
	}
	list_features(fd, has, lacks, sizeof(has));
	close(fd);
	finding_say(f, DOCTOR_OK, "io_uring has%s%s%s",
		    *has ? has : " no extras",
		    *lacks ? "; this kernel lacks" : "", lacks);
}

static void say_fix(struct finding *f, const char *why)
{
	char word[32] = "";

	if (!strncmp(why, "EPERM", 5) &&
	    !doctor_read("/proc/sys/kernel/io_uring_disabled", word,
			 sizeof(word)) &&
	    strcmp(word, "0"))
		finding_fix(f, "sysctl kernel.io_uring_disabled=0 (now %s)",
			    word);
	else if (!strncmp(why, "EPERM", 5))
		finding_fix(f, "allow io_uring_setup, io_uring_enter and "
			       "io_uring_register in the seccomp profile");
	else if (!strncmp(why, "ENOSYS", 6))
		finding_fix(f, "a kernel with CONFIG_IO_URING, or a seccomp "
			       "profile that allows io_uring_setup");
	else if (!strncmp(why, "EMFILE", 6))
		finding_fix(f, "a higher limit of open files: ulimit -n");
	else if (!strncmp(why, "ENOMEM", 6))
		finding_fix(f, "a higher limit of locked memory: ulimit -l");
	else if (!strncmp(why, "EOPNOTSUPP", 10))
		finding_fix(f, "install liburing-dev 2.3 or later and build "
			       "again");
	else if (!strncmp(why, "EINVAL", 6))
		finding_fix(f, "boot a kernel of 6.1 or later");
}

void probe_io(struct finding *f)
{
	char detail[200] = "";
	struct lkdf *rt;
	int has_rings;

	/* This failure is another finding's. */
	if (lkdf_open(NULL, &rt)) {
		finding_say(f, DOCTOR_NONE, "operations: no runtime opens");
		return;
	}
	has_rings = (lkdf_caps(rt) & LKDF_CAP_URING) != 0;
	doctor_caps(rt, "uring ", detail, sizeof(detail));
	lkdf_close(rt);
	if (has_rings) {
		finding_say(f, DOCTOR_OK, "operations run on rings: %s",
			    detail);
		return;
	}
	if (strchr(detail, '=') && !strchr(detail, ' ')) {
		finding_say(f, DOCTOR_OK,
			    "operations run on threads, as told: "
			    "%s",
			    detail);
		return;
	}
	finding_say(f, DOCTOR_WARN, "operations run on threads: %s", detail);
	say_fix(f, detail);
}
