/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* State of a request while it is made (request.c): its arguments, in order. */
#ifndef OFFLOAD_MAKER_H
#define OFFLOAD_MAKER_H

#include "offload/kernel.h"

struct maker {
	struct lkdf_ctx *c;
	const struct kernel *k;
	struct device *d;
	char *arg; /* of the task */
	struct kernel_req *r;
	uint64_t value_bytes, local_bytes; /* of one launch */
	uint64_t most_bytes; /* value_bytes of the launches before */
};

/* ---- request.c ---------------------------------------------------------- */

/* A use; a value, which the request borrows; all parameters of the user. */
void maker_add_use(struct maker *m, uint32_t use);
void maker_add_bytes(struct maker *m, const void *value, uint64_t bytes);
int maker_add_params(struct maker *m);

/* The request gets its task, if the run has one for it, and its class. */
void maker_begin_run(struct maker *m);

/* ---- reuse.c ------------------------------------------------------------ */

/* The request of a run before is reset. False: there is none that fits. */
bool maker_reuse(struct maker *m);

/* The request is over, and its frame keeps it. False: it does not. */
bool maker_keep(struct kernel_req *r);

/* ---- kernel_bytes.c ----------------------------------------------------- */

/* The copies of the use that is an operand, and whether one stays. */
void maker_find_copies(struct maker *m, uint32_t main,
		       struct device_operand *o);

/* ---- span_info.c -------------------------------------------------------- */

/* For a recording: it becomes ready with its task, or behind another one. */
void maker_fill_told(struct maker *m);

/* ---- memory.c ----------------------------------------------------------- */

/* Operands that are no uses. */
uint32_t maker_count_memory(const struct kernel *k);

/* A parameter that is such an operand. 0 or -ENOMEM. */
int maker_add_memory(struct maker *m, uint32_t param);

/* The argument, where there is no param: a value, or such an operand. */
void maker_add_arg(struct maker *m);

/* Memory of so many bytes for the time of the task: the operand's number. */
int maker_add_scratch(struct maker *m, uint64_t bytes, uint32_t *operand);

/* An argument that is an operand which there is. */
void maker_add_operand(struct maker *m, uint32_t operand);

/* ---- range.c ------------------------------------------------------------ */

/* The items of the launch. 0; -EINVAL by name; as maker_port_range(). */
int maker_find_range(const struct maker *m, uint64_t range[3]);

/* ---- ports.c ------------------------------------------------------------ */

/* Values at in ports as parameters and as the range. 0; -ENODATA by name. */
int maker_add_ports(struct maker *m, const struct lkdf_param *p);
int maker_port_range(const struct maker *m, uint64_t range[3]);

/* Hands on the values that came. 0; as lkdf_pass(). */
int maker_pass_ports(const struct maker *m);

/* ---- fold.c ------------------------------------------------------------- */

/* All launches of a fold; the first one is set. */
int maker_add_fold(struct maker *m);
uint32_t maker_count_fold(uint32_t nr_params);

/* The code of the launch after i others. NULL: there is none. */
struct device_code *fold_code(const struct device_req *req, uint32_t i);

/* The next launch of the request. False: there is none. */
bool fold_next(struct device_req *req);

#endif
