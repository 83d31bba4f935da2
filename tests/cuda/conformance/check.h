/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the driver of CUDA does, call by call, half of it wrong use. A check
 * says one line, "name: RESULT value"; golden.txt has the lines of a real
 * driver. Each check runs in a process that may die; those marked OWN spoil it
 * and have one of their own.
 *
 * No check looks at a clock to find out whether a call has waited: the kernel
 * that runs beside it tells when it ends.
 */
#ifndef CONFORMANCE_CHECK_H
#define CONFORMANCE_CHECK_H

#include "tests/cuda/load.h"

#include <stdbool.h>

/* NO_INIT: cuInit has not been called; BRIEF: the kernel is waited for. */
enum {
	OWN = 1,
	NO_INIT = 2,
	BRIEF = 4
};

struct check {
	const char *name; /* NULL: the end of a list */
	void (*fn)(void);
	unsigned how;
};

extern const struct check load_checks[], context_checks[], stream_checks[],
	host_checks[], memory_checks[], pinned_checks[], module_checks[],
	launch_checks[], fault_checks[], capture_checks[], graph_checks[],
	busy_checks[], beside_checks[];

extern const char ptx_kernels[], ptx_assert[], ptx_later[];

/* Of the process of a check; stub: a file, "": none. */
extern struct cu cu;
extern const char *stub;
extern cu_dev dev;
extern cu_ctx ctx;
extern cu_mod mod;
extern cu_stream s1, s2;
extern cu_event ev;
extern uint32_t *flag; /* pinned: opens the gate */
extern cu_ptr flag_there, mem;
extern cu_func f_empty, f_gate, f_store, f_step, f_stop, f_bound, f_shared;

#define NONE 0xffffu /* no result: only the value is said */

void say(cu_result r, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* A step that the check needs has not come off: its line says so. */
bool failed(cu_result r);

/* cuInit, a context, streams, kernels. */
void prepare(void);

int64_t now_ns(void);
void nap_ms(int ms);
void *bogus(void); /* memory that is nobody's handle */
char *pages(size_t n);
cu_result get(const char *name, cu_func *f);
cu_result launch(cu_func f, cu_stream s, void **params);

/* A kernel that runs until open_gate(), or as long as limit_gate() says. */
cu_result gate(cu_stream s);
void open_gate(void);
void limit_gate(unsigned ms);
bool gate_is_done(void);

void set_flag(uint32_t v);
uint32_t get_flag(void);

/* cuStreamQuery once it is not 600 any more, 2 s at the longest. */
cu_result settle(cu_stream s);

/* *at = 2 * *at + value; *at = 7 */
cu_result step(cu_stream s, cu_ptr at, uint32_t value);
cu_result store(cu_stream s, cu_ptr at);
uint32_t word(cu_ptr at);

/* A context beside the primary one, which is current then. */
cu_result second(cu_ctx *c);

/* A graph of so many steps. */
cu_result chain(int n, uint32_t by, cu_graph *g);

#endif
