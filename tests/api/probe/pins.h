/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The pins of lkdf probe with eight slots, for tests that register threads
 * themselves.
 */
#ifndef TESTS_API_PROBE_PINS_H
#define TESTS_API_PROBE_PINS_H

#include "tests/api/probe/probe_bpf.h"

#include <bpf/uapi/lkdf_probe.h>
#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define NOBODY 65534
#define NR_SLOTS 8

static const struct lkdf_probe_slot *slots;
static int program = -1;

/* What the program returns, or what the kernel says instead. */
static int run_program(void *arg, uint32_t size)
{
	union bpf_attr attr;
	long rc;

	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)program;
	attr.test.ctx_in = (uintptr_t)arg;
	attr.test.ctx_size_in = size;
	rc = call_bpf(BPF_PROG_TEST_RUN, &attr);
	return rc ? (int)rc : (int)attr.test.retval;
}

static int enter(struct lkdf_probe_register *r)
{
	memset(r, 0, sizeof(*r));
	r->size = sizeof(*r);
	return run_program(r, sizeof(*r));
}

__attribute__((unused)) static int nr_used(void)
{
	int i, nr = 0;

	for (i = 0; i < NR_SLOTS; i++)
		nr += ((const volatile struct lkdf_probe_slot *)slots)[i]
			      .tgid != 0;
	return nr;
}

static bool pins_start(const char *self)
{
	int fd;
	void *p;

	if (!probe_start(self, "--group 65534 --slots 8"))
		return false;
	program = get_pin("register");
	fd = get_pin("slots");
	p = mmap(NULL, sizeof(*slots) * NR_SLOTS, PROT_READ, MAP_SHARED, fd, 0);
	close(fd);
	slots = p;
	return program >= 0 && p != MAP_FAILED;
}

#endif
