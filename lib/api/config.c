/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/config.h"

#include "api/rank.h"
#include "base/err.h"
#include "base/rights.h"
#include "base/util.h"
#include "signal/board.h"
#include "topo/topo.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <lkdf/runtime.h>
#include <lkdf_probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define AT(field) .offset = offsetof(struct options, field)

enum log_word {
	WORD_AUTO,
	WORD_NONE,
	WORD_ERROR
};
static const char *const log_words[] = { "auto", "none",  "error",
					 "info", "debug", NULL };
/* As enum pin. */
static const char *const pin_words[] = { "no", "yes", "auto", NULL };

/* As enum os_huge. */
static const char *const huge_words[] = { "default", "always", "never", NULL };

/* As enum backend. */
static const char *const devices_words[] = { "none", "cuda", "opencl", NULL };

/* As enum io_mode. */
static const char *const io_words[] = { "steal", "threads", NULL };

/* As enum board_wish. */
static const char *const signal_words[] = { "auto", "proc", "off", NULL };

/* As enum narrow_wish. */
static const char *const narrow_words[] = { "off", "auto", "force", NULL };

/* As enum check_wish. */
static const char *const check_words[] = { "no", "yes", "atomics", NULL };

/* signal_number() of trace_part.c has the numbers. */
static const char *const trace_signal_words[] = { "no",	  "hup",  "quit",
						  "usr1", "usr2", NULL };

static const struct option_row rows[] = {
	{ .name = "workers",
	  .type = OPTION_INT,
	  AT(workers),
	  .max = TOPO_MAX_WORKERS,
	  .unit = "threads",
	  .help = "how many workers; 0: one per allowed core, at most the "
		  "cgroup's quota" },
	{ .name = "workers_per_node",
	  .type = OPTION_BOOL,
	  AT(workers_per_node),
	  .help = "workers is a number for each NUMA node" },
	{ .name = "reserve_workers",
	  .type = OPTION_BOOL,
	  AT(reserve_workers),
	  .help = "with workers=0: one per allowed core though the quota is "
		  "less; those beyond it wait until the quota is raised" },
	{ .name = "substitutes",
	  .type = OPTION_INT,
	  AT(substitutes),
	  .max = TOPO_MAX_WORKERS,
	  .unit = "threads",
	  .help = "workers more, each of which runs while another one rests in "
		  "a join" },
	{ .name = "cpus",
	  .type = OPTION_TEXT,
	  AT(cpus),
	  .help = "CPUs to use, \"0,2-5\" in double quotes; default: all "
		  "that this process may use" },
	{ .name = "topology",
	  .type = OPTION_TEXT,
	  AT(topology),
	  .help = "a made-up machine instead of this one, for tests: "
		  "\"numa:2 core:4\"; workers are not pinned then" },
	{ .name = "pin",
	  .type = OPTION_WORD,
	  AT(pin),
	  .words = pin_words,
	  .init = PIN_AUTO,
	  .help = "yes: bind each worker to one CPU; auto: to the CPUs of its "
		  "node where workers are fewer than the CPUs that the process "
		  "may use and there is no cpus=, and where another runtime of "
		  "the process has the CPUs" },
	{ .name = "spin_us",
	  .type = OPTION_INT,
	  AT(spin_us),
	  .max = 1000000,
	  .init = 40,
	  .unit = "us",
	  .help = "how long an idle worker looks for work before it sleeps, "
		  "and an URGENT task waits for a worker before a spare thread "
		  "takes it" },
	{ .name = "blocking",
	  .type = OPTION_INT,
	  AT(blocking),
	  .min = 1,
	  .max = 4096,
	  .init = 64,
	  .unit = "threads",
	  .help = "most threads for kinds that block; made when needed" },
	{ .name = "events",
	  .type = OPTION_INT,
	  AT(events),
	  .min = 1024,
	  .max = 1 << 28,
	  .init = 1 << 22,
	  .unit = "events",
	  .help = "most events alive at a time, -EAGAIN beyond" },
	{ .name = "stack_kib",
	  .type = OPTION_INT,
	  AT(stack_kib),
	  .max = 1 << 20,
	  .unit = "KiB",
	  .help = "stack of each thread; 0: the system's default" },
	{ .name = "memory_limit",
	  .type = OPTION_INT,
	  AT(memory_limit),
	  .max = 1 << 26,
	  .unit = "MiB",
	  .help = "most memory mapped for blocks on each node, and as much "
		  "again pinned, and interleaved; 0: no limit" },
	{ .name = "memory_strict",
	  .type = OPTION_BOOL,
	  AT(memory_strict),
	  .help = "a node that is out of memory refuses, instead of taking "
		  "memory of another node" },
	{ .name = "memory_huge",
	  .type = OPTION_WORD,
	  AT(memory_huge),
	  .words = huge_words,
	  .help = "huge pages for blocks: as the system is set, always asked "
		  "for, never" },
	{ .name = "placement",
	  .type = OPTION_BOOL,
	  AT(placement),
	  .init = 1,
	  .help = "tasks run on the node where most bytes of their data are, "
		  "and graphs are planned for it" },
	{ .name = "io",
	  .type = OPTION_WORD,
	  AT(io),
	  .words = io_words,
	  .help = "operations: rings of io_uring, whose completions idle "
		  "workers of the node take too, or threads; without io_uring "
		  "threads" },
	{ .name = "signal",
	  .type = OPTION_WORD,
	  AT(signal),
	  .words = signal_words,
	  .help = "where the runtime learns on which nodes pages are and how "
		  "its workers fare: auto: from the best source that there is; "
		  "proc: from those that need no rights; off: nowhere" },
	{ .name = "signal_kib",
	  .type = OPTION_INT,
	  AT(signal_kib),
	  .min = 64,
	  .max = 1 << 30,
	  .init = 256,
	  .unit = "KiB",
	  .help = "the smallest data whose pages are watched" },
	{ .name = "probe",
	  .type = OPTION_TEXT,
	  AT(probe),
	  .text_init = LKDF_PROBE_DIR,
	  .help = "the directory with the pins of lkdf probe start, which "
		  "tells of workers where signal=auto; \"\": none is read" },
	{ .name = "far_steals",
	  .type = OPTION_BOOL,
	  AT(far_steals),
	  .init = 1,
	  .help = "an idle worker takes a task that was planned for another "
		  "node if that node would start it late; no: never, to "
		  "measure a plan" },
	{ .name = "rehome",
	  .type = OPTION_BOOL,
	  AT(rehome),
	  .init = 1,
	  .help = "a block of a planned graph moves to the node that takes "
		  "its tasks again and again, where that is worth it" },
	{ .name = "solo_runs",
	  .type = OPTION_BOOL,
	  AT(solo_runs),
	  .init = 1,
	  .help = "runs of sealed graphs of short bodies stay on one worker "
		  "where that is measured to be faster" },
	{ .name = "narrow",
	  .type = OPTION_WORD,
	  AT(narrow),
	  .words = narrow_words,
	  .help = "fewer workers run kinds whose bodies meet in a lock, where "
		  "that is measured to be faster; force: at most narrow_cap "
		  "run bodies of any kind, for tests" },
	{ .name = "narrow_cap",
	  .type = OPTION_INT,
	  AT(narrow_cap),
	  .min = 1,
	  .max = TOPO_MAX_WORKERS,
	  .init = 1,
	  .unit = "workers",
	  .help = "of narrow=force" },
	{ .name = "loop_regions",
	  .type = OPTION_BOOL,
	  AT(loop_regions),
	  .init = 1,
	  .help = "a worker that has a loop of a graph for itself goes through "
		  "its iterations by bits; no: by counters, as several "
		  "workers do" },
	{ .name = "static_runs",
	  .type = OPTION_INT,
	  AT(static_runs),
	  .max = 1 << 20,
	  .init = 8,
	  .unit = "runs",
	  .help = "replay the tasks of a graph in a recorded order when one "
		  "worker runs it alone; with a single worker, from this run "
		  "on; 0: never" },
	{ .name = "spawn_inline",
	  .type = OPTION_INT,
	  AT(spawn_inline),
	  .max = 1 << 30,
	  .init = 65536,
	  .unit = "tasks",
	  .help = "a worker with so many tasks queued runs the next child "
		  "inside lkdf_spawn(), unless its kind blocks or has limits, "
		  "or the child has a place or uses; fewer than 8192 count as "
		  "8192; 0: never" },
	{ .name = "omp",
	  .type = OPTION_BOOL,
	  AT(omp),
	  .init = 1,
	  .help = "threads that run bodies tell OpenMP that they have one "
		  "thread, bodies with LKDF_TEAM as many as they own CPUs; "
		  "OpenBLAS, where it makes threads itself, gets one for all" },
	{ .name = "devices",
	  .type = OPTION_WORDS,
	  AT(devices),
	  .words = devices_words,
	  .help = "devices of the library that become places: cuda, the cards "
		  "of NVIDIA's driver; opencl, those of all OpenCL drivers; "
		  "several in double quotes, \"cuda,opencl\"; none" },
	{ .name = "cuda_library",
	  .type = OPTION_TEXT,
	  AT(cuda_library),
	  .help = "NVIDIA's driver where devices has cuda; default: "
		  "libcuda.so.1" },
	{ .name = "nvrtc_library",
	  .type = OPTION_TEXT,
	  AT(nvrtc_library),
	  .help = "the compiler of texts in CUDA C, which the CUDA Toolkit "
		  "has; default: libnvrtc.so.13, .12 or without a number" },
	{ .name = "kernel_cache",
	  .type = OPTION_TEXT,
	  AT(kernel_cache),
	  .help = "directory where texts in CUDA C are kept compiled, made "
		  "where its parent is; default: none are kept" },
	{ .name = "opencl_library",
	  .type = OPTION_TEXT,
	  AT(opencl_library),
	  .help = "the OpenCL library where devices=opencl; default: "
		  "libOpenCL.so.1" },
	{ .name = "device_queues",
	  .type = OPTION_INT,
	  AT(device_queues),
	  .min = 1,
	  .max = 64,
	  .init = 4,
	  .unit = "queues",
	  .help = "most queues for kernels on each device, fewer where the "
		  "device says so; a device is given four kernels for each" },
	{ .name = "device_memory",
	  .type = OPTION_INT,
	  AT(device_memory),
	  .max = 1 << 26,
	  .unit = "MiB",
	  .help = "most memory taken on each device; 0: all that it has" },
	{ .name = "device_pool",
	  .type = OPTION_BOOL,
	  AT(device_pool),
	  .help = "memory that the program takes on a card of CUDA is from the "
		  "runtime's pool, too: lkdf_free() waits for no kernel, and "
		  "the memory cannot be given to other processes" },
	{ .name = "device_pin",
	  .type = OPTION_INT,
	  AT(device_pin),
	  .max = 1 << 26,
	  .init = 1024,
	  .unit = "MiB",
	  .help = "most bytes of data whose pages the driver of each device is "
		  "told of, where it carries such pages faster; 0: none" },
	{ .name = "device_spin_us",
	  .type = OPTION_INT,
	  AT(device_spin_us),
	  .max = 1000000,
	  .init = 50,
	  .unit = "us",
	  .help = "how long the launcher of a device that is polled asks "
		  "without a pause; 0 where the runtime may use fewer than "
		  "four CPUs" },
	{ .name = "copy_inline_kib",
	  .type = OPTION_INT,
	  AT(copy_inline_kib),
	  .max = 1 << 20,
	  .init = 64,
	  .unit = "KiB",
	  .help = "lkdf_copy() between memories of the host copies up to so "
		  "much before it returns, more in a task" },
	{ .name = "serial",
	  .type = OPTION_BOOL,
	  AT(serial),
	  .help = "no threads: run everything on the caller's, for debugging" },
	{ .name = "order",
	  .type = OPTION_INT,
	  AT(order),
	  .max = INT64_MAX,
	  .unit = "seed",
	  .help = "a seed that chooses the order in which ready tasks run, "
		  "which it repeats exactly; implies serial=yes; 0: none" },
	{ .name = "check",
	  .type = OPTION_WORD,
	  AT(check),
	  .words = check_words,
	  .help = "a program with -fsanitize=thread is told of each order that "
		  "lkdf promises, and of no other, as lkdf check does it; "
		  "atomics: its own atomics and locks give order, too; implies "
		  "order=1 where there is none" },
	{ .name = "check_log",
	  .type = OPTION_TEXT,
	  AT(check_log),
	  .help = "a file to which notes for lkdf check are added" },
	{ .name = "log",
	  .type = OPTION_WORD,
	  AT(log),
	  .words = log_words,
	  .help = "least important level that is told to the log callback, or "
		  "without one to standard error; auto: info to a callback, "
		  "error to standard error" },
	{ .name = "stall",
	  .type = OPTION_INT,
	  AT(stall),
	  .max = 86400,
	  .unit = "s",
	  .help = "when no body, task or run has ended for so long although "
		  "some are under way, the log is told once what lkdf_why() "
		  "says, as errors, and with order the program ends then; 0: "
		  "nobody watches" },
	{ .name = "kinds",
	  .type = OPTION_BOOL,
	  AT(kinds),
	  .help = "bodies are counted by kind, and one of about 64 is timed, "
		  "for lkdf stat, lkdf top and lkdf_stat(): 1 to 2 ns a body" },
	{ .name = "trace",
	  .type = OPTION_TEXT,
	  AT(trace),
	  .help = "record every body into this file, one a runtime: %p is "
		  "the process, %n a number, %r the rank of a program of "
		  "MPI" },
	{ .name = "trace_last",
	  .type = OPTION_INT,
	  AT(trace_last),
	  .max = 3600,
	  .unit = "s",
	  .help = "a flight recorder: what came in so many seconds stays in "
		  "memory, and the file of trace is written when a task or a "
		  "scope is later than its deadline, or by "
		  "lkdf_record_last(); 0: there is none" },
	{ .name = "trace_signal",
	  .type = OPTION_WORD,
	  AT(trace_signal),
	  .words = trace_signal_words,
	  .help = "a signal that has the flight recorder written, while a "
		  "runtime with one is open: its handler is the library's" },
	{ .name = "socket",
	  .type = OPTION_TEXT,
	  AT(socket),
	  .help = "the abstract socket of a tool, to which the runtime sends "
		  "the memfd of its counters; lkdf run and lkdf stat set it" },
	{ .name = "ask",
	  .type = OPTION_BOOL,
	  AT(ask),
	  .init = 1,
	  .help = "a thread of the runtime answers tools of the same user or "
		  "of root, lkdf why -p and lkdf trace record -p; it sleeps "
		  "until one asks; serial=yes has none" },
	{ .name = "hooks",
	  .type = OPTION_TEXT,
	  AT(hooks),
	  .help = "the file of a library whose object lkdf_hooks is told of "
		  "loops, kernels, blocks and copies, see lkdf/hooks.h" },
	{ .name = "fix",
	  .type = OPTION_TEXT,
	  AT(fix),
	  .help = "another number for what the program creates by a name, as "
		  "lkdf try --fix sets it: tokens=LIMIT:4, window=SCOPE:64, "
		  "depth=CHANNEL:8, grain=LOOP:1000, priority=KIND:high; "
		  "several in double quotes, with commas between" },
	{ .name = "final",
	  .type = OPTION_BOOL,
	  AT(final),
	  .help = "LKDF_* variables do not change these options" },
};

const struct option_row *config_rows(size_t *nr)
{
	*nr = ARRAY_SIZE(rows);
	return rows;
}

/* LKDF_WORKERS for workers. With raised rights it is left alone. */
static int read_variable(const struct option_row *row, struct options *o)
{
	char name[sizeof(o->left_alone)];
	const char *value;
	size_t i;

	snprintf(name, sizeof(name), "LKDF_%s", row->name);
	for (i = 0; name[i]; i++)
		name[i] = (char)toupper((unsigned char)name[i]);
	value = getenv(name);
	if (!value)
		return 0;
	if (!o->raised) {
		o->trace_is_variable |=
			row->offset == offsetof(struct options, trace);
		return option_set(row, value, o, name);
	}
	memcpy(o->left_alone, name, sizeof(name));
	return 0;
}

int config_log_level(const struct options *o, bool has_callback)
{
	if (o->log == WORD_AUTO)
		return has_callback ? LKDF_LOG_INFO : LKDF_LOG_ERROR;
	return (int)o->log - WORD_ERROR;
}

/* The options of lkdf check; the row of stall comes behind that of order. */
static bool is_before_final(const struct option_row *row,
			    const struct options *o)
{
	return row->offset == offsetof(struct options, order) ||
	       row->offset == offsetof(struct options, check) ||
	       row->offset == offsetof(struct options, check_log) ||
	       (o->order && row->offset == offsetof(struct options, stall));
}

/* There is one thread, and neither a clock nor the kernel decides anything. */
static void imply_serial(struct options *o)
{
	o->serial = 1;
	o->signal = BOARD_OFF;
	o->loop_regions = 0;
}

int config_read(const char *text, struct options *o)
{
	size_t i;
	int rc;

	option_defaults(rows, ARRAY_SIZE(rows), o);
	o->raised = rights_raised();
	if (o->raised)
		o->ask = 0;
	rc = option_parse(rows, ARRAY_SIZE(rows), text, o);
	for (i = 0; i < ARRAY_SIZE(rows) && !rc; i++)
		if (!o->final || is_before_final(&rows[i], o))
			rc = read_variable(&rows[i], o);
	if (o->check && !o->order)
		o->order = 1;
	if (o->order)
		imply_serial(o);
	return rc ? rc : rank_put(o->trace, sizeof(o->trace));
}

bool config_tells_hwloc(void)
{
	static const char prefix[] = "HWLOC_";
	char **e;

	for (e = environ; e && *e; e++)
		if (!strncmp(*e, prefix, sizeof(prefix) - 1))
			return true;
	return false;
}
