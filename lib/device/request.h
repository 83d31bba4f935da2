/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A request: what a kernel needs on its device. The launcher brings it from
 * room on the device to its end.
 *
 *	RESERVE -> UPLOAD -> RUN -> FETCH -> OVER
 *
 * A request goes on when all that the device was given for it is done; where
 * one queue takes copies and kernels in their order the device is given all at
 * once. A
 * request that fails or is cancelled skips what is left and gives back what it
 * has. A single request at a time may wait for room (starving), and then no
 * other is begun: it waits only for those that have all they need, so it comes
 * to its turn.
 */
#ifndef DEVICE_REQUEST_H
#define DEVICE_REQUEST_H

#include "device/device.h"

#include <lkdf/format.h>

struct copies;
struct device_copy;
struct device_code;
struct device_region;
struct region_memory;

/* Bytes that a request uses. */
struct device_operand {
	/* Set by whoever makes the request. */
	char *host;
	uint64_t bytes;
	uint32_t mode; /* LKDF_READ, LKDF_WRITE or both */
	uint32_t part;
	uint64_t offset; /* of the part, in its data */
	struct copies *copies; /* of its data; NULL: it is not asked for */
	bool is_kept; /* the copy stays on the device */
	bool is_zero; /* host has zeroes, which the device may make itself */
	bool is_through; /* what is written comes home at once */

	/* The launcher. */
	void *device_ptr;
	struct device_copy *copy; /* pinned */
	struct device_copy *source; /* that it is filled from; NULL: the host */
	struct region_memory *shared; /* of a region */
	bool is_fetching; /* the same */
	bool is_filled; /* the copy has the bytes already */
};

/* It belongs to the layer above. executor: as the launcher's items are run
 * with. */
struct device_req_ops {
	bool (*is_cancelled)(const struct device_req *r);

	/*
	 * Does a task wait for its end that is not given to the device yet?
	 */
	bool (*is_awaited)(const struct device_req *r);

	/* The operands lie there: gives work to the queue. 0 or -errno. */
	int (*enqueue)(void *executor, struct device_req *r, void *queue);

	/* The function of the launch is known: block and range, or an error. */
	void (*shape)(struct device_req *r);

	/* The code of launch i + 1; NULL: there is none. May be NULL. */
	struct device_code *(*code)(const struct device_req *r, uint32_t i);

	/* A launch is done: the next one is set. False: it was the last. */
	bool (*next)(struct device_req *r);

	/* With error and why; the request is the layer's again. */
	void (*over)(void *executor, struct device_req *r);

	/*
	 * For one that leads, see region.h: there is room in its region; it has
	 * failed, and so have those that depend on it.
	 */
	void (*extend)(void *executor, struct device_region *g);
	/*
	 * A request that leads a piece, see piece.h: the others are added to
	 * its region, or it has no piece any more.
	 */
	void (*complete)(void *executor, struct device_region *g,
			 struct device_req *r);
	/* Before it begins. True: the layer holds it, and begins it later. */
	bool (*gathers)(void *executor, struct device_req *r);
	void (*failed)(struct device_req *r);
};

struct device_req {
	/* Set by whoever makes it, constant afterwards. */
	const struct device_req_ops *ops;
	struct device *device;
	struct device_operand *operand;
	uint32_t nr_operand;
	unsigned class;
	bool is_last; /* nobody takes what it writes */
	struct lkdf_stats_slice told; /* what a recording says of its launch */
	bool is_empty; /* its bytes go there, and nothing is launched */

	/* Set again by next(). */
	struct device_code *code; /* NULL: it is enqueued */
	struct lkdf_launch launch; /* but for function and addresses */
	struct lkdf_arg *arg;
	uint32_t *operand_of; /* by arg: where it is memory */
	bool leads; /* others may go with it */

	/* While it waits in a queue of another launcher. */
	struct blocking_item item;

	/* The launcher; any thread looks at one that is in the list. */
	_Atomic(uint32_t) state; /* enum device_state */

	/* The launcher, under the device's lock. */
	struct list list; /* of those under way */

	/* The launcher. */
	uint32_t nr_ops; /* that the device has not done */
	uint64_t bytes_up, bytes_down;
	uint32_t nr_reserved; /* operands that have memory there */
	struct device_region *region; /* NULL: alone */
	struct device_req *behind; /* of the region, in order */
	struct device_piece *piece; /* the layer's, see piece.h; or NULL */
	bool tells; /* of a piece: somebody waits for its end */
	unsigned enqueues; /* the queue, while enqueue() runs; else 0 */
	bool has_run; /* the same: its launch is done */
	bool has_launched;
	bool is_quiet; /* the next op is, where it can be */
	unsigned queue; /* that takes all its ops at once; 0: there is none */
	uint64_t waits_since; /* for room, ticks; 0: it does not */
	uint64_t begun; /* its enqueue(), ticks */
	uint64_t op_end; /* of its last op that is done, ticks */
	uint64_t uid; /* of what was recorded of it last; 0: nothing was */
	int error;
	char why[DEVICE_WHY];
};

/* Its way begins; or, on any thread, in the launcher's queue. */
void request_begin(struct device *d, void *executor, struct device_req *r);
void request_hand_over(struct device *d, struct device_req *r);

/* The request that waits in a queue with that item; NULL: none does. */
const struct device_req *request_of_item(const struct blocking_item *item);

/* ---- for region.c ------------------------------------------------------- */

/* Zero, and in the device's list. */
void request_enter(struct device *d, struct device_req *r);
void request_move(struct device_req *r, enum device_state to);

/* Their ops, of operands from first on. */
void request_upload(struct device_req *r, uint32_t first);

/* They are there, or will not be: what they were filled from is let go. */
void request_filled(struct device_req *r);
void request_run(void *executor, struct device_req *r, unsigned queue);
void request_fetch(struct device_req *r, struct device_operand *o);

/* All requests of the piece, from the first on. False: none is given. */
bool request_run_piece(struct device_req *first, unsigned queue);

/* The kernels' queue whose turn it is, or that of urgent ones. */
unsigned request_queue(struct device *d, const struct device_req *r);

/* In no list of the device's any more. */
void request_leave(struct device *d, struct device_req *r);

/* ---- request_together.c, for request.c alone ---------------------------- */

/* Has one queue all that the request needs? It has its memory. */
bool request_goes_together(const struct device_req *r);
void request_give_together(void *executor, struct device_req *r);

/* ---- request_give.c, for these two alone -------------------------------- */

/* Do its bytes come home behind the launch? Those of all that do. */
bool request_fetches(const struct device_operand *o);
bool request_has_fetches(const struct device_req *r);
void request_fetch_all(struct device_req *r);

/* Its operands have their memory: the launch is given that. */
void request_set_addresses(struct device_req *r);

/* A launch of its code; what was given to the queue so far. */
void request_launch(struct device_req *r, unsigned queue);
void request_mark(struct device_req *r, unsigned queue);

/* ---- the rest ----------------------------------------------------------- */

/* An op of a request is done. */
void request_op_done(struct device *d, void *executor, struct device_slot *s);

/* Tries the one that waits for room again. True: it does so no longer. */
bool request_feed(struct device *d, void *executor);

/* The first error of a request stays. */
void request_fail(struct device_req *r, int error, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void request_fail_call(struct device_req *r, const char *what, int error);
void request_fail_lost(struct device_req *r);
void request_fail_bytes(struct device_req *r, int error);

/*
 * The text that the device's function has given to err(), or the error's name.
 */
void request_fail_said(struct device_req *r, const char *what, int error);

/* All that it holds is gone, and it is called for nothing but to stop. */
void request_lose_all(struct device *d, void *executor);

#endif
