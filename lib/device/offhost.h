/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the bytes of a data are: on the host, or, after a kernel has written
 * them, on the device of that kernel alone (away). Each data that kernels have
 * used has a struct copies; it has a struct offhost for the whole and one for
 * each part, with a version that grows with each write. A copy on a device is
 * right if it has that version; so whoever writes makes all copies stale
 * without telling anybody.
 *
 *	home --- a kernel has written them ---> away
 *	away --- the device has carried them back, or is lost ---> home
 *
 * A user that is to touch them on the host asks the device that has them, and
 * is called when they are home; a device also brings bytes home that have to
 * make room. The queue of the data (data/var.h) keeps users apart: nobody
 * writes while somebody else waits for the bytes or uses them.
 */
#ifndef DEVICE_OFFHOST_H
#define DEVICE_OFFHOST_H

#include "device/device.h"
#include "device/pins.h"

/* Under the lock of its copies. */
struct offhost {
	struct copies *of;
	uint64_t version; /* of the bytes, from 1 on */
	uint64_t since; /* the whole's version when they were written last */
	struct device *device; /* where they are; NULL: home */
	struct device *asked; /* in whose queue ask is, or was */
	int error; /* they are lost, and nobody was told yet */
	bool is_asked; /* ask is in that queue */
	struct blocking_item ask;
	struct blocking_item *waiting;
};

/* The copies that devices have of one data: its identity for them. */
struct copies {
	/* Set when made, constant afterwards. */
	struct device *const *devices; /* by index */
	const _Atomic(uint32_t) *is_alive; /* 0: we are a forked child */

	/* The launcher of each device, whose bit it is: it may have some. */
	_Atomic(uint64_t) on;
	struct pinned pinned; /* see pins.h */

	/* Under lock; any thread looks. */
	struct lock lock;
	_Atomic(uint32_t) nr_away; /* of those below */
	_Atomic(bool) has_lost; /* some of them have an error */

	/* Set before kernels use parts, constant afterwards. */
	uint32_t nr_parts;
	struct offhost *parts;

	/* Under lock. */
	struct offhost whole;
	uint32_t last_part; /* that a kernel has used; 0: none */

	/* When the data is gone: dropped, device by device. */
	struct blocking_item forget;
	unsigned next_device;
	void (*gone)(void *u);
	void *gone_u;
};

/*
 * A data's table of copies, for all devices; pin_bytes: of its whole, if a
 * driver may know its pages, else 0. NULL: no memory.
 */
struct copies *copies_create(struct device *const *devices,
			     const _Atomic(uint32_t) *is_alive,
			     uint32_t nr_parts, uint64_t pin_bytes);

/* Before parts are used: parts has room for nr, and is the callee's. */
void copies_split(struct copies *c, uint32_t nr, struct offhost *parts);

/*
 * The data is gone; gone(u) is called when no device has anything of it any
 * more, perhaps at once. Any thread; with c NULL, too.
 */
void copies_forget(struct copies *c, void (*gone)(void *u), void *u);

struct offhost *offhost_of(struct copies *c, uint32_t part);

/*
 * The part (0: the whole, and so all parts) is to be home. False: it is. True:
 * waiter is run, on some launcher, when it may be; then ask again. but: where
 * that very part may be as well; whole: where the whole of a part may be; NULL:
 * nowhere. Any thread that was granted a use of the part.
 */
bool offhost_wait_slowly(struct copies *c, uint32_t part,
			 const struct device *but, const struct device *whole,
			 struct blocking_item *waiter);

static inline bool offhost_wait(struct copies *c, uint32_t part,
				const struct device *but,
				const struct device *whole,
				struct blocking_item *waiter)
{
	/* [offhost.look] who is to use them comes after who wrote them; pairs
	 * with [offhost.home]. */
	return unlikely(a_load(&c->nr_away, acquire)) &&
	       offhost_wait_slowly(c, part, but, whole, waiter);
}

/* As offhost_wait(), of a caller that does not wait. */
bool offhost_is_elsewhere_slowly(struct copies *c, uint32_t part,
				 const struct device *but,
				 const struct device *whole);

static inline bool offhost_is_elsewhere(struct copies *c, uint32_t part,
					const struct device *but,
					const struct device *whole)
{
	/* [offhost.look] as above. */
	return unlikely(a_load(&c->nr_away, acquire)) &&
	       offhost_is_elsewhere_slowly(c, part, but, whole);
}

/*
 * Calls fn for each item that waits for bytes of c, under its lock; d: which
 * device brings them, part: of which.
 */
void offhost_each_waiting(struct copies *c,
			  void (*fn)(void *u, const struct device *d,
				     uint32_t part,
				     const struct blocking_item *item),
			  void *u);

/* They are home, and the caller is about to write them on the host. */
void offhost_written(struct copies *c, uint32_t part);

/*
 * An error of the part, once: its bytes were lost. 0: they were not, or
 * somebody was told.
 */
int offhost_take_error(struct copies *c, uint32_t part);

/*
 * An error of the part, also of the whole if the part was lost with it, or for
 * the whole of one of its parts; the next reader is told as well.
 */
int offhost_error(struct copies *c, uint32_t part);

/* The part was written after the whole: it was not lost with that. */
bool offhost_is_newer(struct copies *c, uint32_t part);

/* ---- the launcher of d -------------------------------------------------- */

/* The version of the bytes now. */
uint64_t offhost_version(struct copies *c, uint32_t part);

/* Copies of the whole from that version on have what the part is now. */
uint64_t offhost_since(struct copies *c, uint32_t part);

/* A kernel has written them: the new version. is_home: the host has it too. */
uint64_t offhost_publish(struct device *d, struct copies *c, uint32_t part,
			 bool is_home);

/* They came home, or were lost with the error: runs whoever waits. */
void offhost_end(struct device *d, struct copies *c, uint32_t part, int error);

#endif
