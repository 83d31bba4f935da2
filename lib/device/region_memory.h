/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Memory that the requests of a region share. The first request that uses some
 * bytes brings them, if it reads them; the last one that writes them has them
 * fetched.
 *
 * Memory that is a copy of data (copies.h) is pinned as long as requests of the
 * region use it. The copy has a new version with each launch that has written
 * it, and its bytes are not fetched, unless they are to come home at once
 * (is_through).
 *
 * All of it is the launcher's.
 */
#ifndef DEVICE_REGION_MEMORY_H
#define DEVICE_REGION_MEMORY_H

#include "device/request.h"

/* Bytes on the device, while some request of the region uses them. */
struct region_memory {
	struct list list;
	char *host;
	uint64_t bytes;
	void *device_ptr;
	struct device_copy *copy; /* it is; NULL: it is the region's own */
	bool is_filled; /* of a copy: it had the bytes when it was pinned */
	uint32_t nr_users; /* requests that are not over */
	uint32_t nr_writers; /* of these: whose launch is not done */
	uint32_t nr_fills; /* the same: that bring its bytes */
	uint32_t nr_fetches; /* under way */
	bool is_spoilt; /* whoever was to bring the bytes has not */
};

/* A request gets all of its memory at once, or none. False: none. */
bool region_take(struct device_region *g, struct device_req *r);

/* The region takes over what its leader has reserved. False: no memory. */
bool region_adopt(struct device_region *g, struct device_req *r);

/* The region has adopted nothing: its leader goes alone. */
void region_forget(struct device_region *g);

/* A request is over, and its memory may be the device's again. */
void region_put(struct device_region *g, struct device_req *r);

/* The uploads of a request are done, or it has failed before. */
void region_uploaded(struct device_req *r);

/* Another request was to bring some bytes. True: they are on their way. */
bool region_bring_again(struct device_req *r);

/* Are some bytes that it reads to be brought again? */
bool region_is_spoilt(const struct device_req *r);

/* The launch of a request is done: data goes to the host, or stays. */
void region_fetch(struct device_region *g, struct device_req *r);

/* Its fetches are done, or have failed. */
void region_fetched(struct device_region *g, struct device_req *r);

/* The device is lost, and with it the launch of a request. */
void region_give_up(struct device_region *g, struct device_req *r);

#endif
