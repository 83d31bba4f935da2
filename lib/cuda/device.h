/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * CUDA's devices as struct lkdf_device_ops, on NVIDIA's driver: one context and
 * some streams for each, made by start(). Memory there is a CUdeviceptr, a
 * function a CUfunction, a queue a CUstream, which is what users of CUDA know.
 *
 * Ends are told by words: behind each command the stream writes the command's
 * number to a word in memory of the host, which poll() reads; no call of the
 * driver and no thread of it is needed for that. Words say nothing of faults:
 * in silence the driver is asked.
 *
 * Calls that the driver holds up until all kernels have ended (cuMemFree,
 * cuModuleUnload) are made when nothing is under way.
 *
 * A device is its owner's until it is registered; stop() frees it.
 */
#ifndef CUDA_DEVICE_H
#define CUDA_DEVICE_H

#include "base/atomic.h"
#include "cuda/enter.h"
#include "cuda/io.h"
#include "cuda/load.h"
#include "cuda/piece.h"

#include <lkdf/device.h>
#include <pthread.h>

#define CUDA_MAX_QUEUES 66 /* the first two, and those for kernels */
#define CUDA_ALIGN 512 /* of what the driver allocates */
#define CUDA_PLAIN_SHARED 49152 /* bytes of a block without asking */
#define CUDA_FUNCTION_BUCKETS 64
#define CUDA_PATH_SIZE 512
#define CUDA_LATE_MODULES 32 /* then they go back when nothing is under way */

/* A word of its own cache line, and where the card sees it. */
struct cuda_word {
	_Atomic(uint32_t) *at;
	cu_ptr there;
};

/* The launcher's. */
struct cuda_queue {
	cu_stream stream;
	struct cuda_word word; /* the number of the last that has ended */
	uint32_t given, ended; /* numbers; they wrap */
	bool has_quiet; /* a launch without a number is the last command */
	bool is_unclaimed; /* the last number is that of no op */
	uint32_t size; /* of ring, a power of two */
	struct lkdf_device_op *ring; /* of number n: at n modulo size */
	struct list running; /* pieces that it was given, in order */
};

/* Memory that is not simply what the driver's pool gave. */
struct cuda_block {
	cu_ptr at, base; /* ours begins at, the driver's at base */
	bool is_pooled;
};

/* A module or memory that goes back when nothing is under way. */
struct cuda_late {
	struct cuda_late *next;
	cu_module module; /* NULL: memory */
	cu_ptr memory;
};

/* The facts of a function, of build's or of the program's own. */
struct cuda_known {
	/* Constant once others can find it. */
	struct cuda_known *next;
	cu_function function;
	cu_module module; /* NULL: the program's */
	uint32_t max_block, registers, shared;
	uint32_t nr_param; /* UINT32_MAX: the driver does not tell */
	uint32_t param_bytes[LKDF_MAX_PARAMS];

	/* The launcher's. */
	uint32_t dynamic; /* bytes of a block that it may ask for */
	uint32_t block; /* as the driver chose it for block_dynamic; 0: none */
	uint32_t block_dynamic;
	uint32_t carveout; /* as it was set last; 0: it never was */
};

/* An event of the program's that somebody waits for. */
struct cuda_watch {
	struct cuda_watch *next;
	cu_stream stream; /* its own */
	struct cuda_word word;
	uint32_t number; /* that the word gets */
	void (*fired)(void *u, int error); /* NULL: nobody waits */
	void *u;
};

/*
 * For the device and those that were adopted from it, for calls that wait for
 * all kernels of the card. The last of them frees it.
 */
struct cuda_card {
	_Atomic(uint32_t) nr_devices;
	_Atomic(uint32_t) nr_watched; /* events that somebody waits for, or that
				       * were left when a device was closed */
};

/* The back end counts them. */
enum cuda_counted {
	CUDA_GRAPHS, /* runs of CUDA graphs */
	CUDA_UPDATES, /* graphs that got other values */
	CUDA_REFUSED, /* pieces that became none */
};

struct cuda_settings {
	const char *library, *nvrtc; /* "": the usual ones */
	const char *cache; /* directory of compiled texts; "": none */
	bool is_serial; /* no threads but the driver's */
	void (*count)(void *u, enum cuda_counted what); /* on any launcher */
	void (*note)(void *u); /* err_text() says why a card is no device, or
				* what one lacks; or NULL */
	void *u;
};

struct cuda_device {
	/* Set when found, constant afterwards. */
	struct cuda cuda;
	cu_device id;
	struct cuda_card *card;
	cu_stream foreign; /* the program's: all kernels go there; or NULL */
	char nvrtc[CUDA_PATH_SIZE], cache[CUDA_PATH_SIZE]; /* of settings */
	void (*count)(void *u, enum cuda_counted what); /* likewise */
	void *count_u;
	bool is_serial; /* likewise */
	int arch; /* 90 of sm_90 */
	cu_result asked; /* for that; an error: there is no such device */
	uint32_t block_shared; /* bytes, at most */
	uint32_t max_block[3], max_grid[3];

	/* Under lock; context is constant once it is not NULL. */
	pthread_mutex_t lock;
	cu_context context;
	bool has_retained; /* it goes back at the end */
	struct cuda_known *known[CUDA_FUNCTION_BUCKETS];
	struct cuda_watch *watches; /* all */
	bool is_lost; /* nobody waits for another event */

	/* start() to stop(), its launcher's. */
	struct cuda_queue queue[CUDA_MAX_QUEUES];
	unsigned nr_queues;
	cu_stream memory; /* for memory of the pool */
	void *words; /* of the queues */
	cu_pool pool; /* NULL: the card has none */
	void *blocks; /* a tree of libc's of struct cuda_block */
	struct cuda_late *late;
	uint64_t nr_late; /* of these, memory as much as CUDA_LATE_MODULES */
	int64_t quiet_since; /* ns; 0: something has ended since */
	cu_stream capture; /* nothing runs in it */
	struct list pieces;
	struct cuda_spare_word *spare_words; /* see word.c */
	struct cuda_words *more_words;
	cu_result broken; /* a launch has lost the device: poll() says so */
	bool has_entered; /* it stays so; not in serial mode */
	bool has_lent; /* serial mode: lent_to has entered for enqueue() */
	pthread_t lent_to;
	struct cuda_before lent;
	struct cuda_io io;
};

extern const struct lkdf_device_ops cuda_ops;

/*
 * The cards of the driver, at most max; each goes to stop() in the end. Their
 * number; 0: there is none, with a text where there was no note; what
 * cuda_load() returns; -ENOMEM.
 */
int cuda_devices(const struct cuda_settings *s, struct cuda_device **v,
		 unsigned max);

/*
 * A device without a context; card: of the device that it is adopted from, or
 * NULL. NULL: no memory.
 */
struct cuda_device *cuda_create(const struct cuda *cuda, cu_device id,
				struct cuda_card *card);

/* An attribute; 0: the driver does not know it. */
int cuda_number(const struct cuda_device *d, unsigned what);

/* Are there managed addresses that host and kernels use at one time? */
bool cuda_has_managed(const struct cuda_device *d);

/* Has the driver pools of memory for the card? */
bool cuda_has_pool(const struct cuda_device *d);

/* Any thread: makes sure of the context. 0 or -errno. */
int cuda_require(struct cuda_device *d);

/*
 * From enter to leave the thread may call the driver for the device, beside
 * whatever the program captures; leave puts back what was before. Functions of
 * the table that the launcher calls have entered, see table.c.
 */
struct cuda_before cuda_enter(const struct cuda_device *d);
void cuda_leave(const struct cuda_device *d, const struct cuda_before *before);

/* err() with the name of the call and of its error. */
int cuda_fails(const struct cuda_device *d, const char *call, cu_result r);

void cuda_count(const struct cuda_device *d, enum cuda_counted what);

/* ---- queues ------------------------------------------------------------- */

/* Words of the host that the card may write, zeroed. 0 or -errno. */
int cuda_make_words(const struct cuda_device *d, unsigned nr,
		    struct cuda_word *v, void **block);

int cuda_open_queues(struct cuda_device *d, unsigned nr);
/* keeps_words: the call does not wait for kernels of the program. */
void cuda_close_queues(struct cuda_device *d, bool keeps_words);

/* The ring has room for so many more; 0 or -errno. */
int cuda_make_room(struct cuda_queue *q, uint32_t nr);

/* The op has the next number; its slot is NULL: a mark may claim it. */
void cuda_give_number(struct cuda_queue *q, struct lkdf_device_op op);

/*
 * The stream writes the op's number behind what it was given. An error: the
 * stream has done all of that, and the op has no number.
 */
cu_result cuda_give_word(struct cuda_device *d, unsigned queue,
			 struct lkdf_device_op op);

/*
 * Before the stream of the queue is given a command, behind what the queue
 * holds; 0 or -errno.
 */
int cuda_begin_command(struct cuda_device *d, unsigned queue);

/*
 * The stream was given the call; r is its result. 0: op will be done when it
 * has ended; -errno: it was not given.
 */
int cuda_end_command(struct cuda_device *d, unsigned queue, const char *call,
		     cu_result r, struct lkdf_device_op op);

/* Is nothing under way, neither a command nor an event of the program's? */
bool cuda_is_idle(const struct cuda_device *d);

/* A word for a piece; 0 or -errno. Their memory stays until stop(). */
int cuda_take_word(struct cuda_device *d, struct cuda_word *out);
void cuda_put_word(struct cuda_device *d, struct cuda_word *w);
void cuda_close_words(struct cuda_device *d, bool keeps_words);

/* ---- launches ----------------------------------------------------------- */

/* The driver is told of values by their addresses. */
struct cuda_values {
	cu_ptr address[LKDF_MAX_PARAMS];
	void *param[LKDF_MAX_PARAMS];
	uint32_t nr;
};

/* All that the driver is to be told, but the stream; 0 or -errno. */
int cuda_set_step(struct cuda_device *d, const struct lkdf_launch *l,
		  struct cuda_step *s, struct cuda_values *v);

/* ---- memory ------------------------------------------------------------- */

int cuda_open_memory(struct cuda_device *d);
void cuda_close_memory(struct cuda_device *d);

/*
 * Gives the module back, or the memory, when nothing is under way; a module
 * with others. Is it time for that?
 */
bool cuda_is_late(const struct cuda_device *d);
void cuda_give_back(struct cuda_device *d, cu_module module, cu_ptr memory);

/* Nothing is under way: all that waited for that goes back. */
void cuda_settle(struct cuda_device *d);

/* All that waited for that is left to the driver. */
void cuda_forget_late(struct cuda_device *d);

/* ---- functions ---------------------------------------------------------- */

/* Any thread: the facts of the function. 0 or -errno. */
int cuda_know(struct cuda_device *d, cu_function f, cu_module module,
	      struct cuda_known **out);
void cuda_forget_all(struct cuda_device *d);

/* ---- events of the program's -------------------------------------------- */

/* How many have come; those who wait for them are told. */
int cuda_ask_watches(struct cuda_device *d);

/* All who wait are told the error, and nobody comes any more. */
void cuda_lose_watches(struct cuda_device *d, int error);

/*
 * The last call: all who wait are told that nobody waits any more. False: some
 * events of the card have not come, so nothing may wait for its kernels.
 */
bool cuda_close_watches(struct cuda_device *d);

/* ---- functions of the table --------------------------------------------- */

int cuda_info(void *dev, struct lkdf_device_info *out);
int cuda_start(void *dev, unsigned nr_queues);
void cuda_stop(void *dev);
int cuda_alloc(void *dev, enum lkdf_mem_kind mem, uint64_t bytes,
	       uint64_t align, void **device_ptr);
void cuda_free(void *dev, void *device_ptr);
int cuda_pin(void *dev, void *host, uint64_t bytes);
void cuda_unpin(void *dev, void *host);
int cuda_build(void *dev, const struct lkdf_code *c,
	       const struct lkdf_launch *like, void **function, char *log,
	       uint32_t log_size);
void cuda_drop(void *dev, void *function);
int cuda_needs(void *dev, void *function, struct lkdf_kernel_needs *out);
int cuda_upload(void *dev, unsigned queue, const struct lkdf_transfer *t,
		struct lkdf_device_op op);
int cuda_fetch(void *dev, unsigned queue, const struct lkdf_transfer *t,
	       struct lkdf_device_op op);
int cuda_copy(void *dev, unsigned queue, const struct lkdf_device_copy *c,
	      struct lkdf_device_op op);
int cuda_fill(void *dev, unsigned queue, const struct lkdf_device_fill *f,
	      struct lkdf_device_op op);
int cuda_launch(void *dev, unsigned queue, const struct lkdf_launch *l,
		struct lkdf_device_op op);
int cuda_mark(void *dev, unsigned queue, struct lkdf_device_op op);
void cuda_lose(void *dev);
int cuda_poll(void *dev);
int cuda_adopt(void *dev, void *queue, void **out);
int cuda_watch(void *dev, void *event, void (*fired)(void *u, int error),
	       void *u);

#endif
