/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Cards, all with the facts of an H200 but for the memory, and how many of them
 * there are: FAKE_CUDA_CARDS, 1 by default, of which CUDA_VISIBLE_DEVICES lets
 * the program see some.
 */
#include "tests/cuda/fake/fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct {
	unsigned attribute;
	int value;
} attributes[] = {
	{ CU_ATTR_MAX_THREADS_PER_BLOCK, 1024 },
	{ CU_ATTR_MAX_BLOCK_X, 1024 },
	{ CU_ATTR_MAX_BLOCK_X + 1, 1024 },
	{ CU_ATTR_MAX_BLOCK_X + 2, 64 },
	{ CU_ATTR_MAX_GRID_X, 2147483647 },
	{ CU_ATTR_MAX_GRID_X + 1, 65535 },
	{ CU_ATTR_MAX_GRID_X + 2, 65535 },
	{ 8, STATIC_SHARED }, /* of a block */
	{ CU_ATTR_WARP, 32 },
	{ CU_ATTR_COMPUTE_MODE, 0 },
	{ CU_ATTR_WORDS_V1, 1 },
	{ CU_ATTR_WORDS_64, 1 },
	{ CU_ATTR_REGISTERS_PER_BLOCK, 65536 },
	{ CU_ATTR_UNITS, 132 },
	{ 31, 1 }, /* kernels side by side */
	{ CU_ATTR_MAX_THREADS_PER_UNIT, 2048 },
	{ CU_ATTR_ASYNC_ENGINES, 3 },
	{ 41, 1 }, /* one address for host and card */
	{ CU_ATTR_MAJOR, 9 },
	{ CU_ATTR_MINOR, 0 },
	{ CU_ATTR_SHARED_PER_UNIT, 233472 },
	{ CU_ATTR_REGISTERS_PER_UNIT, 65536 },
	{ 83, 1 }, /* managed memory */
	{ CU_ATTR_CONCURRENT_MANAGED, 1 },
	{ CU_ATTR_HOST_REGISTERED_SAME_POINTER, 1 },
	{ CU_ATTR_SHARED_OPTIN, MAX_SHARED },
	{ CU_ATTR_MAX_BLOCKS_PER_UNIT, 32 },
	{ CU_ATTR_RESERVED_SHARED, 1024 },
	{ CU_ATTR_POOLS, 1 },
};

static pid_t owner; /* has called cuInit; 0: nobody */
static int nr_cards;

cu_result device_ready(void)
{
	return owner && owner == getpid() ? 0 : 3;
}

bool device_is(cu_dev d)
{
	return d >= 0 && d < nr_cards;
}

int device_count(void)
{
	return nr_cards;
}

/* The visible cards: as many numbers as are in order, as the driver does it. */
static int count_cards(void)
{
	const char *all = getenv("FAKE_CUDA_CARDS");
	const char *visible = getenv("CUDA_VISIBLE_DEVICES");
	int n = all ? atoi(all) : 1, shown = 0;
	char *end;
	long i;

	n = n < 0 ? 0 : n > MAX_CARDS ? MAX_CARDS : n;
	if (!visible)
		return n;
	for (;; visible = end + 1) {
		i = strtol(visible, &end, 10);
		if (end == visible || i < 0 || i >= n)
			break;
		shown++;
		if (*end != ',')
			break;
	}
	return shown < n ? shown : n;
}

/* The driver has a thread from here on, which signals reach as its maker's. */
static void *stay(void *arg)
{
	(void)arg;
	pthread_setname_np(pthread_self(), "cuda-EvtHandlr");
	for (;;)
		pause();
	return NULL;
}

static void start_thread(void)
{
	pthread_t t;

	if (pthread_create(&t, NULL, stay, NULL))
		abort();
	pthread_detach(t);
}

cu_result cuInit(unsigned flags)
{
	cu_result r = enter(E_cuInit, NEEDS_NOTHING);

	if (!r && flags)
		r = 1;
	if (!r && owner && owner != getpid())
		r = 3;
	if (!r && !owner) {
		nr_cards = count_cards();
		if (nr_cards)
			start_thread();
		owner = nr_cards ? getpid() : 0;
		r = nr_cards ? 0 : 100;
	}
	return leave(r);
}

cu_result cuDriverGetVersion(int *version)
{
	cu_result r = enter(E_cuDriverGetVersion, NEEDS_NOTHING);

	if (!r)
		*version = driver_version();
	return leave(r);
}

cu_result cuDeviceGetCount(int *n)
{
	cu_result r = enter(E_cuDeviceGetCount, NEEDS_INIT);

	if (!r)
		*n = nr_cards;
	return leave(r);
}

cu_result cuDeviceGet(cu_dev *d, int i)
{
	cu_result r = enter(E_cuDeviceGet, NEEDS_INIT);

	if (!r && !device_is(i))
		r = 101;
	if (!r)
		*d = i;
	return leave(r);
}

/* For what is told of a card, also after a fault. */
static cu_result enter_card(enum entry e, cu_dev d)
{
	cu_result r = enter(e, NEEDS_INIT);

	return r ? r : device_is(d) ? 0 : 101;
}

cu_result cuDeviceGetName(char *name, int size, cu_dev d)
{
	cu_result r = enter_card(E_cuDeviceGetName, d);

	if (!r && size < 1)
		r = 1;
	if (!r)
		snprintf(name, (size_t)size, "test library");
	return leave(r);
}

cu_result cuDeviceGetPCIBusId(char *id, int size, cu_dev d)
{
	cu_result r = enter_card(E_cuDeviceGetPCIBusId, d);

	if (!r && size < 13)
		r = 1;
	if (!r)
		snprintf(id, (size_t)size, "0000:%02x:00.0", 6 + (unsigned)d);
	return leave(r);
}

cu_result cuDeviceGetUuid(struct cu_uuid *id, cu_dev d)
{
	cu_result r = enter_card(E_cuDeviceGetUuid, d);

	if (!r) {
		memset(id, 0, sizeof(*id));
		memcpy(id->bytes, "test library", 12);
		id->bytes[15] = (char)d;
	}
	return leave(r);
}

/* A card other than that of the recording has another value. */
static int other_value(unsigned attribute, int value)
{
	switch (attribute) {
	case CU_ATTR_POOLS:
		return like(LIKE_NO_POOLS) ? 0 : value;
	case CU_ATTR_WORDS_V1:
	case CU_ATTR_WORDS_64:
		return like(LIKE_NO_WORDS) ? 0 : value;
	case CU_ATTR_MAJOR:
		return like(LIKE_SM_100) ? 10 : value;
	case CU_ATTR_COMPUTE_MODE:
		return like(LIKE_PROHIBITED) ? 2 : value;
	default:
		return value;
	}
}

cu_result cuDeviceGetAttribute(int *value, unsigned attribute, cu_dev d)
{
	cu_result r = enter_card(E_cuDeviceGetAttribute, d);
	size_t i, n = sizeof(attributes) / sizeof(attributes[0]);

	for (i = 0; i < n && attributes[i].attribute != attribute; i++)
		;
	if (!r && i == n)
		r = 1;
	if (!r)
		*value = other_value(attribute, attributes[i].value);
	return leave(r);
}

cu_result cuDeviceTotalMem(size_t *size, cu_dev d)
{
	cu_result r = enter_card(E_cuDeviceTotalMem, d);

	if (!r)
		*size = CAPACITY;
	return leave(r);
}
