/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A finding of lkdf doctor: how good, what was found, why, and the fix. Each
 * probe looks at one thing and writes one finding.
 */
#ifndef TOOLS_DOCTOR_DOCTOR_H
#define TOOLS_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

enum doctor_level {
	DOCTOR_OK,
	DOCTOR_WARN,
	DOCTOR_FAIL,
	DOCTOR_NONE
};

struct finding {
	enum doctor_level level;
	const char *name;
	char text[256]; /* what was found, and why that is so */
	char fix[256]; /* what to do; "" if nothing */
};

typedef void (*doctor_probe)(struct finding *f);

struct doctor_row {
	const char *name;
	doctor_probe probe;
	bool forks; /* it looks in a child, before all others */
};

/* Say it: a level and a text; or the fix. */
void finding_say(struct finding *f, enum doctor_level level, const char *fmt,
		 ...) __attribute__((format(printf, 3, 4)));
void finding_fix(struct finding *f, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* First line of a file without its end. 0 or -errno. */
int doctor_read(const char *path, char *to, size_t size);

/* The start of what lkdf_describe() writes; "" if it cannot. */
struct lkdf;
void doctor_describe(struct lkdf *rt, const char *what, const char *format,
		     char *to, size_t size);

/* The line of the caps that begins with name: what it adds. 0: there is
 * none. */
int doctor_caps(struct lkdf *rt, const char *name, char *to, size_t size);

/* Kernel features: probes of doctor/kernel.c. */
void probe_kernel(struct finding *f);
void probe_perf(struct finding *f);
void probe_bpf(struct finding *f);
void probe_pins(struct finding *f);
void probe_memfd(struct finding *f);
void probe_thp(struct finding *f);
void probe_numa_balancing(struct finding *f);

/* Operations: probes of doctor/io.c. */
void probe_io_uring(struct finding *f);
void probe_io(struct finding *f);

/* Devices: probes of doctor/device.c. */
void probe_opencl(struct finding *f);
void probe_cuda(struct finding *f);

/* The text of the last lkdf_places(); "": it had none. */
const char *text_of_places(void);

/* The parts that were built in: probes of doctor/build.c. */
void probe_built(struct finding *f);
void probe_libc(struct finding *f);
void probe_has_uring(struct finding *f);
void probe_has_sdt(struct finding *f);
void probe_has_bpf(struct finding *f);
void probe_has_top(struct finding *f);
void probe_has_mpi(struct finding *f);
void probe_has_frame_pointers(struct finding *f);
void probe_has_mechanisms(struct finding *f);

/* Limits and CPUs: probes of doctor/cpu.c. */
void probe_cpus(struct finding *f);
void probe_open(struct finding *f);
void probe_topology(struct finding *f);
void probe_shared_cpus(struct finding *f);
void probe_quota(struct finding *f);
void probe_load_average(struct finding *f);
void probe_tsc(struct finding *f);
void probe_memlock(struct finding *f);
void probe_nofile(struct finding *f);

#endif
