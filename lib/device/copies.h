/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Copies of data that stay on a device. A copy belongs to a data, or a part of
 * one, and has the version of the data whose bytes it is (offhost.h). A copy
 * may be dropped at any time but while a request uses it (pinned); one that is
 * the only place of its bytes (dirty) is carried back before.
 *
 * A device's copies are its launcher's alone.
 */
#ifndef DEVICE_COPIES_H
#define DEVICE_COPIES_H

#include "device/offhost.h"

struct device_operand;

struct device_copy {
	/* The launcher. */
	struct device_copy *next; /* of the bucket */
	struct list lru; /* of the device's; the last is dropped first */
	struct copies *of;
	uint32_t part;
	uint64_t version; /* whose bytes it is; 0: nobody's */
	uint64_t bytes;
	void *device_ptr;
	char *host; /* where its bytes lie there */
	uint64_t offset; /* of the part, in its data */
	uint64_t writer; /* uid of the kernel that wrote them; 0: unknown */
	unsigned nr_pins;
	unsigned nr_sinks; /* of them: copies of parts are made of it */
	bool is_changing; /* a request writes it, or fills it */
	bool is_dirty; /* the host does not have them */
	bool is_leaving; /* it is being carried back */
	bool is_forgotten; /* then its data is to be forgotten here, again */
};

/*
 * A pinned copy for the operand, whose bytes may have to be filled. 0; -EAGAIN:
 * another request fills it, or the room is in use; -ENOMEM, or what alloc() of
 * the device gave.
 */
int copies_pin(struct device *d, struct device_operand *o);

/*
 * For a pinned copy that is to be filled: from that of the whole, where the
 * device copies within itself; source is pinned, too, or NULL. Back when it is
 * filled, or is not to be.
 */
void copies_find_source(struct device *d, struct device_operand *o);
void copies_drop_source(struct device_operand *o);

/* Back: what a kernel has done with it. */
enum copy_end {
	COPY_UNTOUCHED, /* nothing */
	COPY_FILLED, /* it has the bytes, at least */
	COPY_WRITTEN, /* and new ones, if the use writes */
	COPY_SPOILT, /* or something else, if the use writes */
};

void copies_unpin(struct device *d, struct device_operand *o,
		  enum copy_end end);

/*
 * Steps of that, for a copy that several requests share (region_memory.h): it
 * has the bytes of now; it has new ones, as has the host, or alone; it has
 * neither the bytes of before nor new ones; it is pinned once less.
 */
void copies_fill(struct device_copy *c);
void copies_publish(struct device *d, struct device_copy *c, bool is_home);
void copies_spoil(struct device *d, struct device_copy *c);
void copies_let_go(struct device *d, struct device_copy *c);

/* Memory of the device, for which copies are dropped. As copies_pin(). */
int copies_alloc(struct device *d, uint64_t bytes, void **device_ptr);
void copies_free(struct device *d, uint64_t bytes, void *device_ptr);

/* Memory that the program takes and gives back, for which copies are dropped.
 */
int copies_alloc_held(struct device *d, uint64_t bytes, uint64_t align,
		      void **device_ptr);
void copies_free_held(struct device *d, uint64_t bytes, void *device_ptr);

/* All that no request uses, at once or soon. True: there was one. */
bool copies_drop_unused(struct device *d);

/* Those of a data. False: one is on its way home, and forget comes after it. */
bool copies_drop(struct device *d, const struct copies *of);

/* The dirty one of a part is carried back; or it is under way already. */
void copies_return(struct device *d, struct copies *of, uint32_t part);

/* It was, or not: error. */
void copies_returned(struct device *d, struct device_copy *c, int error);

/* The device is gone, and all bytes that it alone had. */
void copies_lose(struct device *d);

/* All of them, the last. */
void copies_drop_all(struct device *d);

#endif
