/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf doctor --build: the parts that this lkdf was built with, a row for each
 * switch of "make config". Nothing is looked for: the compiler was told it.
 */
#include "doctor/doctor.h"

#include <lkdf/lkdf.h>

#include <features.h>

#if defined(__x86_64__)
#define MACHINE "x86_64"
#elif defined(__aarch64__)
#define MACHINE "aarch64"
#else
#define MACHINE "another machine"
#endif

#if defined(__clang__)
#define COMPILER __VERSION__
#else
#define COMPILER "gcc " __VERSION__
#endif

void probe_built(struct finding *f)
{
	unsigned v = lkdf_version();

	finding_say(f, DOCTOR_OK,
		    "lkdf " LKDF_VERSION " for " MACHINE ", by " COMPILER
		    "; it has loaded liblkdf %u.%u.%u",
		    v >> 16, v >> 8 & 255, v & 255);
	if (v != LKDF_VERSION_NUMBER) {
		f->level = DOCTOR_WARN;
		finding_fix(f, "install lkdf and liblkdf of one version");
	}
}

void probe_libc(struct finding *f)
{
#ifdef __GLIBC__
	finding_say(f, DOCTOR_OK, "built with glibc %d.%d", __GLIBC__,
		    __GLIBC_MINOR__);
#else
	finding_say(f, DOCTOR_WARN, "built with a C library that is not glibc");
	finding_fix(f, "the tests run with glibc only: run your own");
#endif
}

static void say_part(struct finding *f, bool is_in, const char *what,
		     const char *needs)
{
	finding_say(f, is_in ? DOCTOR_OK : DOCTOR_NONE, "%s%s", what,
		    is_in ? "" : ": left out");
	if (!is_in)
		finding_fix(f, "build with %s", needs);
}

void probe_has_uring(struct finding *f)
{
	say_part(f, BUILT_URING, "URING: operations on rings of io_uring",
		 "liburing 2.3 or newer (liburing-dev)");
}

void probe_has_sdt(struct finding *f)
{
	say_part(f, BUILT_SDT, "SDT: probes for bpftrace, perf and gdb",
		 "sys/sdt.h (systemtap-sdt-dev)");
}

void probe_has_bpf(struct finding *f)
{
	say_part(f, BUILT_BPF, "BPF: lkdf probe and futex, by BPF programs",
		 "clang, bpftool and libbpf (libbpf-dev)");
}

void probe_has_top(struct finding *f)
{
	say_part(f, BUILT_TOP, "TOP: the screen of lkdf top",
		 "ncursesw (libncurses-dev)");
}

void probe_has_mpi(struct finding *f)
{
	say_part(f, BUILT_MPI, "MPI: liblkdf-mpi, requests of MPI as events",
		 "an MPI (libopenmpi-dev or libmpich-dev)");
}

void probe_has_frame_pointers(struct finding *f)
{
	say_part(f, BUILT_FRAME_POINTERS,
		 "FRAME_POINTERS: stacks of callers go through the library",
		 "make FRAME_POINTERS=1");
}

void probe_has_mechanisms(struct finding *f)
{
	bool has_all = !BUILT_WITHOUT[0];

	finding_say(f, has_all ? DOCTOR_OK : DOCTOR_WARN,
		    "mechanisms of workers: %s" BUILT_WITHOUT,
		    has_all ? "all" : "built without ");
	if (!has_all)
		finding_fix(f, "this build is for measurements: build without "
			       "WITHOUT=");
}
