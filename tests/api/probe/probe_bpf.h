/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The pins of a probe that tests have started, by plain bpf(2). */
#ifndef TESTS_API_PROBE_PROBE_BPF_H
#define TESTS_API_PROBE_PROBE_BPF_H

#include "tests/api/probe.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <sys/syscall.h>

__attribute__((unused)) static long call_bpf(int cmd, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

__attribute__((unused)) static int get_pin(const char *name)
{
	char path[PATH_MAX];
	union bpf_attr attr;

	snprintf(path, sizeof(path), "%s/bpf/%s", probe_dir, name);
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	return (int)call_bpf(BPF_OBJ_GET, &attr);
}

#endif
