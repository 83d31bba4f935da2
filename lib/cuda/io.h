/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A thread of a card that copies pageable bytes of the host. The driver copies
 * such bytes on the thread that calls, which would keep the launcher from all
 * else for 20 ms and more. The thread is made by the first such copy, has a
 * stream of its own and says itself when a copy is done.
 *
 *	io_takes, io_give, io_close   the launcher
 */
#ifndef CUDA_IO_H
#define CUDA_IO_H

#include "base/atomic.h"
#include "cuda/load.h"

#include <lkdf/device.h>
#include <pthread.h>

#define CUDA_IO_BYTES 65536 /* so many go on the launcher */

struct cuda_job {
	struct cuda_job *next;
	struct lkdf_device_op op;
	void *host;
	cu_ptr there;
	uint64_t bytes;
	bool is_up;
};

/* Bytes of the host that the driver knows, see cuda_pin(). */
struct cuda_pinned {
	uintptr_t first, bytes;
	bool is_ours; /* by this device */
};

struct cuda_io {
	/* Set before the thread starts, constant afterwards. */
	const struct cuda *cuda;
	cu_context context;
	cu_stream stream;

	/* The launcher's. */
	bool has_thread, has_none; /* has_none: there is none to be had */
	pthread_t thread;
	void *pinned; /* a tree of libc's of struct cuda_pinned */

	/* Under lock. */
	pthread_mutex_t lock;
	pthread_cond_t given;
	struct cuda_job *first, **last;
	bool is_closing; /* the thread takes no job any more */
	bool is_carrying; /* the thread is at a job */

	/* The thread writes, the launcher reads: copies that are not done, and
	 * the error with which the driver has lost the card. */
	_Atomic(uint32_t) nr_jobs;
	_Atomic(cu_result) broken;
};

struct cuda_device;

void cuda_open_io(struct cuda_device *d);

/* The thread has let go of the host's bytes, and takes no copy any more. */
void cuda_still_io(struct cuda_device *d);

/* Joins the thread; copies that have not begun are not done any more. */
void cuda_close_io(struct cuda_device *d);

/*
 * The copy is the thread's from now on. False: the launcher does it, for it is
 * small or of pinned bytes, or there is no thread.
 */
bool cuda_give_io(struct cuda_device *d, const struct lkdf_transfer *t,
		  bool is_up, struct lkdf_device_op op);

/* 0; -ENOMEM: p is freed, and the driver does not know its bytes any more. */
int cuda_note_pinned(struct cuda_device *d, struct cuda_pinned *p);

/* Those that have all of these bytes; NULL: there are none. */
struct cuda_pinned *cuda_find_pinned(const struct cuda_device *d,
				     const void *host, uint64_t bytes);
void cuda_forget_pinned(struct cuda_device *d, struct cuda_pinned *p);

#endif
