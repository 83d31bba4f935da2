/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kinds whose tasks are kernels. A task that is ready goes to the queue of its
 * device at once, whatever the workers are at (ops->push). On the launcher
 * its body makes a request (request.c), begins it and leaves, as lkdf_then()
 * does; when the request is over the task ends there. Where the user has asked
 * for a node, or no device can run it, the body is the kind's function, on a
 * worker.
 */
#ifndef OFFLOAD_KERNEL_H
#define OFFLOAD_KERNEL_H

#include "core/item.h"
#include "device/code.h"
#include "device/request.h"
#include "offload/devices.h"
#include "task/task.h"

#include <lkdf/kernel.h>

#define KERNEL_STEPS 3 /* launches of a fold, at most */
#define KERNEL_FOLD_ARGS 5 /* of a launch, beside the user's, at most */
#define KERNEL_LANGUAGES 2 /* of loops and folds: OpenCL C, CUDA C */

/* The wishes given to lkdf_kind_create_fold(). */
struct kernel_fold {
	const struct lkdf_fold_attr *attr; /* while the kind is made */
	uint32_t sort; /* enum lkdf_fold_sort */
	uint32_t block; /* threads; 0: it is no fold */
	uint32_t value_size, result;
};

struct kernel {
	/* Set at create, constant afterwards; pointers are ours. */
	struct lkdf *rt;
	struct lkdf_kernel_attr attr; /* but kind and code */
	/* attr.nr_code; of a fold KERNEL_LANGUAGES for each step. */
	struct device_code *code[LKDF_MAX_CODES];
	struct lkdf_param *param; /* attr.nr_param */
	struct kernel_fold fold;
	struct copies *constants; /* LKDF_PARAM_MEMORY on devices, or NULL */
	uint32_t arg_size; /* of the kind; 0: borrowed */
	uint32_t shut; /* enum lkdf_place_kind whose devices do not run it */
	uint64_t
		by_memory; /* bit i: param[i] was a value, see kernel_spill.c */
	bool arg_by_memory; /* so the argument, where there is no param */
	bool is_prefetch; /* see prefetch.h: a wish, without a launch */
	char name[NAME_SIZE];
};

/* A use of a task. */
struct kernel_use {
	char *at; /* on the host */
	uint64_t bytes;
	uint32_t mode; /* LKDF_READ, LKDF_WRITE or both */
	uint32_t main; /* the use that stands for it, or itself */
	uint32_t operand; /* of a main one: its index + 1; 0: none */
};

/* A launch of several. */
struct kernel_step {
	uint32_t first_arg, nr_arg;
	uint64_t items;
};

/* A task on its way. */
struct kernel_req {
	struct device_req req;
	const struct kernel *kernel;
	struct task *task; /* NULL: ahead of it, see early.h */
	bool is_awaited; /* submitted: a body is next in some queue */
	struct frame *frame; /* the rest of these: of such a one */
	uint32_t index;
	void *arg; /* of the task, as the request was made */
	uint64_t range[3]; /* the same */
	struct device_region *counted; /* its edges, see early.h */
	struct kernel_req *next_held; /* see gather.h */
	_Atomic(uint32_t) nr_arrived; /* its end, and its task's turn */
	_Alignas(LINK_ALIGN) struct link_call call;

	uint32_t nr_use;
	struct kernel_use *use;
	void **device_ptr; /* by use; for enqueue() */
	struct blocking_item
		bytes; /* while some come home, see data/offhost.h */
	uint64_t items[3]; /* of a loop, and of a fold with its piece */
	uint32_t nr_parts; /* of a fold */

	/* The launches of a fold; the launcher counts. */
	struct kernel_step step[KERNEL_STEPS];
	uint32_t nr_steps, at_step;

	void *memory[LKDF_MAX_PARAMS + 1]; /* of the host, ours */
	uint32_t nr_memory;
};

extern const struct kind_ops kernel_kinds;

/* Checks and copies all that is not of the kind. 0 or -errno. */
int kernel_create(struct lkdf *rt, const struct lkdf_kernel_attr *a,
		  const struct lkdf_kind_attr *kind, struct kernel **out);
int kernel_create_fold(struct lkdf *rt, const struct lkdf_fold_attr *f,
		       const struct lkdf_kernel_attr *a,
		       const struct lkdf_kind_attr *kind, struct kernel **out);

/* As kernel_create(); fold.attr: what else is asked for, or NULL. */
int kernel_make(struct lkdf *rt, const struct lkdf_kernel_attr *a,
		const struct kernel_fold *fold,
		const struct lkdf_kind_attr *kind, struct kernel **out);

/* A copy that is ours; NULL: no memory. */
struct device_code *kernel_copy_code(const struct kernel *k,
				     const struct lkdf_code *from);

/* Facts of parameters: the type of each, and the bytes where they are known. */
struct loop_param;
void kernel_loop_params(const struct kernel *k, struct loop_param *to);

/* The texts of a fold, in place of the first codes, and the others. */
int kernel_make_folds(struct kernel *k);

/* Checks the uses of a kernel's ports. 0; -EINVAL by name. */
int kernel_check_ports(const struct kernel *k, const struct lkdf_kind_attr *a);

/* Arguments that a parameter stands for. */
static inline uint32_t kernel_nr_params(const struct lkdf_param *p)
{
	return (p->from == LKDF_PARAM_USE || p->from == LKDF_PARAM_PORT) &&
			       p->nr
		       ? p->nr
		       : 1;
}

/* Arguments that the user's parameters stand for, in a task with nr_use uses.
 */
uint32_t kernel_count_params(const struct kernel *k, uint32_t nr_use);

/*
 * Are there more arguments, with those that loops and folds add, than a launch
 * may have? 0; -E2BIG by name.
 */
int kernel_check_args(const struct kernel *k, uint32_t nr_use);

/* LKDF_KERNEL_LOOP: fields; texts of the copied codes; dimensions. */
int kernel_check_loop(const struct kernel *k);
int kernel_make_loops(struct kernel *k);

/* Before the texts are made, of loops and folds: kernel_spill.c. */
void kernel_spill_values(struct kernel *k);
uint32_t kernel_loop_dims(const struct kernel *k);

/*
 * Bytes of all parameters, and of those that are memory of a block; blocks of
 * that range. 0; -E2BIG, -EINVAL: more than the device has.
 */
int kernel_check_bytes(const struct kernel *k, const struct device *d,
		       uint64_t value_bytes, uint64_t local_bytes);
int kernel_check_block(const struct kernel *k, const struct device *d,
		       const uint64_t range[3]);

/* The function of the launch is known: its block. */
void kernel_shape(struct device_req *req);

/*
 * The task that is queued for a device with that item, or waits for bytes with
 * it; NULL: none is, none does.
 */
const struct task *kernel_of_queued(const struct blocking_item *item);
const struct task *kernel_of_bytes(const struct blocking_item *item);

/* No task uses it any more. */
void kernel_free(struct kernel *k);

/* Does it have code for the device? NULL: no, or it is enqueued. */
struct device_code *kernel_code(const struct kernel *k, const struct device *d);

/* 0, or why the device cannot run it: -ENODEV, -EINVAL. */
int kernel_check_device(const struct kernel *k, const struct device *d);

/* Modes and number of uses. 0; -EOPNOTSUPP, -E2BIG by name. */
int kernel_check_uses(const struct kernel *k, const struct lkdf_use *use,
		      unsigned nr);

/*
 * Bytes that are elsewhere are to come home first: true, and the item bytes is
 * run when they may be; then ask again. False: it may begin, or has an error.
 */
bool kernel_waits(struct kernel_req *r);

/* For one that is given ahead; false: it is to wait, or has an error. */
bool kernel_may_go(struct kernel_req *r);

/*
 * The request of the running body's task, for that device; *out NULL: there is
 * nothing to do. 0 or -errno.
 */
int kernel_request(struct lkdf_ctx *c, void *arg, struct device *d,
		   struct kernel_req **out);

/* The request is over: it is freed, or its frame keeps it (reuse.c). */
void kernel_free_request(struct lkdf *rt, struct kernel_req *r);
void kernel_drop_request(struct lkdf *rt, struct kernel_req *r);

/* It is over: the counters have it. */
void kernel_count(struct executor *ex, const struct kernel_req *r);

#endif
