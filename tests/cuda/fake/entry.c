/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The way into the library: which calls there are, what each needs, and the
 * calls that a test has told to fail.
 *
 * FAKE_CUDA_FAIL=cuMemAlloc=2@3,cuLaunchKernel=700 lets the third cuMemAlloc
 * fail once with error 2 and the first launch with 700, which is a fault and
 * stays, as it does on a card. With cuMemAlloc=2@3+ the third and all later
 * ones fail. Programs say the same by fake_cuda_fail().
 */
#include "tests/cuda/fake/fake.h"

#include "tests/cuda/fake/control.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_FAILS 16

/* A call that is to fail: count down, then the result. */
struct fail {
	enum entry entry;
	cu_result result;
	unsigned after;
	bool is_set, stays; /* stays: it is no plan of one call */
};

static const struct row {
	const char *name, *version; /* cuInit_v2000 */
	void *call;
} rows[NR_ENTRIES] = {
#define ROW(name, version, ...) { #name, #version, (void *)name },
	CU_CALLS(ROW) CU_NEW_CALLS(ROW) CU_GUEST_CALLS(ROW) EXTRA_CALLS(ROW)
#undef ROW
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t change = PTHREAD_COND_INITIALIZER;
static unsigned nr_waiting;
static struct fail fails[MAX_FAILS];
static unsigned long nr_calls[NR_ENTRIES];
static cu_result fault;
static int64_t fault_since_ns;

static __thread bool has_lock;

void fake_lock(void)
{
	pthread_mutex_lock(&lock);
	has_lock = true;
}

void fake_unlock(void)
{
	has_lock = false;
	pthread_mutex_unlock(&lock);
}

bool fake_is_locked(void)
{
	return has_lock;
}

int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

void wait_change(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_nsec += 5000000;
	if (t.tv_nsec > 999999999) {
		t.tv_sec++;
		t.tv_nsec -= 1000000000;
	}
	nr_waiting++;
	pthread_cond_timedwait(&change, &lock, &t);
	nr_waiting--;
}

void wait_given(pthread_cond_t *given)
{
	pthread_cond_wait(given, &lock);
}

void tell_change(void)
{
	if (nr_waiting)
		pthread_cond_broadcast(&change);
}

void fault_begin(cu_result r)
{
	if (fault)
		return;
	fault = r;
	fault_since_ns = now_ns();
}

bool fault_is_there(void)
{
	return fault;
}

cu_result fault_told(void)
{
	return fault && now_ns() - fault_since_ns > FAULT_NS ? fault : 0;
}

static unsigned nr_copying; /* by streams */
static long nr_held;
static int64_t hold_ns;

void bytes_begin(void)
{
	nr_copying++;
}

void bytes_end(void)
{
	nr_copying--;
	tell_change();
}

void copy_held(void)
{
	struct timespec t = { hold_ns / 1000000000, hold_ns % 1000000000 };

	if (!hold_ns)
		return;
	nr_held++;
	fake_unlock();
	nanosleep(&t, NULL);
	fake_lock();
	nr_held--;
}

static __thread enum entry under_way;

static int find_entry(const char *name, size_t size)
{
	int i;

	for (i = 0; i < NR_ENTRIES; i++)
		if (strlen(rows[i].name) == size &&
		    !strncmp(rows[i].name, name, size))
			return i;
	return -1;
}

static int add_fail(int entry, unsigned result, unsigned after, bool stays)
{
	size_t i;

	for (i = 0; i < MAX_FAILS && fails[i].is_set; i++)
		;
	if (entry < 0 || i == MAX_FAILS)
		return -EINVAL;
	fails[i] =
		(struct fail){ (enum entry)entry, result, after, true, stays };
	return 0;
}

/* The rows of FAKE_CUDA_FAIL; one that is wrong ends the program. */
static void read_fails(const char *s)
{
	unsigned result, nth;
	bool stays;
	size_t size;
	char *end;

	while (s && *s) {
		size = strcspn(s, "=");
		result = (unsigned)strtoul(s[size] ? s + size + 1 : "", &end,
					   10);
		nth = *end == '@' ? (unsigned)strtoul(end + 1, &end, 10) : 1;
		stays = *end == '+';
		end += stays;
		if (add_fail(find_entry(s, size), result, nth - 1, stays) ||
		    (*end && *end != ',')) {
			fprintf(stderr, "FAKE_CUDA_FAIL: no %s\n", s);
			abort();
		}
		s = *end ? end + 1 : end;
	}
}

static void unlock_child(void)
{
	fake_unlock();
	pthread_cond_init(&change, NULL);
}

__attribute__((constructor)) static void begin_library(void)
{
	pthread_atfork(fake_lock, fake_unlock, unlock_child);
	read_fails(getenv("FAKE_CUDA_FAIL"));
}

/* The error that a test wants of this call. */
static cu_result planned_fail(enum entry e)
{
	size_t i;

	for (i = 0; i < MAX_FAILS; i++) {
		if (!fails[i].is_set || fails[i].entry != e)
			continue;
		if (fails[i].after) {
			fails[i].after--;
			continue;
		}
		fails[i].is_set = fails[i].stays;
		if (error_is_fault(fails[i].result) && !fault) {
			fault = fails[i].result;
			fault_since_ns = now_ns() - 2 * (int64_t)FAULT_NS;
		}
		return fails[i].result;
	}
	return 0;
}

bool needs_current(enum entry e)
{
	static const char *const uses[] = { "cuStream",	     "cuEvent",
					    "cuGraph",	     "cuLaunch",
					    "cuMemcpy",	     "cuMemset",
					    "cuMemFreeAsync" };
	size_t i;

	/* They are for those who do not know the context. */
	if (e == E_cuStreamGetCtx || e == E_cuStreamIsCapturing)
		return false;
	for (i = 0; i < sizeof(uses) / sizeof(uses[0]); i++)
		if (!strncmp(rows[e].name, uses[i], strlen(uses[i])))
			return true;
	return false;
}

static cu_result check_needs(enum entry e, enum needs needs)
{
	cu_result r = needs ? device_ready() : 0;

	if (needs >= NEEDS_HEALTH && like(LIKE_CURRENT) && !in_host_function &&
	    needs_current(e))
		needs = NEEDS_CONTEXT;

	if (r || needs <= NEEDS_INIT)
		return r;
	if (needs >= NEEDS_DRIVER && in_host_function)
		return 800;
	/* A context that is gone says so also behind a fault. */
	if (needs == NEEDS_CONTEXT && current && current->is_dead)
		return 709;
	r = fault_told();
	if (r || needs < NEEDS_CONTEXT)
		return r;
	return current ? 0 : 201;
}

cu_result enter(enum entry e, enum needs needs)
{
	cu_result r;

	under_way = e;
	fake_lock();
	nr_calls[e]++;
	r = planned_fail(e);
	if (!r)
		r = check_needs(e, needs);
	while (error_is_fault(r) && nr_copying)
		wait_change();
	return r;
}

/* One line for each call that fails, of all processes with this file. */
static void log_fail(cu_result r)
{
	const char *path = r && r != 600 ? getenv("FAKE_CUDA_LOG") : NULL;
	int fd = path ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

	if (fd < 0)
		return;
	dprintf(fd, "%s=%u\n", rows[under_way].name, r);
	close(fd);
}

cu_result leave(cu_result r)
{
	fake_unlock();
	log_fail(r);
	return r;
}

void use_destroyed(enum entry e)
{
	fprintf(stderr, "%s: the handle is destroyed\n", rows[e].name);
	abort();
}

API int fake_cuda_fail(const char *call, unsigned result, unsigned after)
{
	int rc;

	fake_lock();
	rc = add_fail(find_entry(call, strlen(call)), result, after, false);
	fake_unlock();
	return rc;
}

API void fake_cuda_hold_copies(long long ns)
{
	fake_lock();
	hold_ns = ns;
	fake_unlock();
}

API long fake_cuda_held(void)
{
	long n;

	fake_lock();
	n = nr_held;
	fake_unlock();
	return n;
}

API long fake_cuda_calls(const char *call)
{
	int i = find_entry(call, strlen(call));
	long n;

	fake_lock();
	n = i < 0 ? -EINVAL : (long)nr_calls[i];
	fake_unlock();
	return n;
}

API cu_result cuGetProcAddress_v2(const char *symbol, void **f, int version,
				  uint64_t flags, unsigned *status)
{
	unsigned told;
	int i, since;

	if (!symbol)
		raise(SIGSEGV); /* as the driver does */
	if (version > driver_version() || flags > 2)
		return 1;
	status = status ? status : &told;
	*f = NULL;
	*status = 1;
	i = find_entry(symbol, strlen(symbol));
	if (i < 0)
		return 0;
	since = atoi(strstr(rows[i].version, "_v") + 2);
	if (since > driver_version())
		return 0; /* it does not know the name yet */
	*status = since > version ? 2 : 0;
	if (!*status)
		*f = rows[i].call;
	return 0;
}

/* A program that was linked with the driver finds it by this name. */
API cu_result cuMemAlloc_v2(cu_ptr *p, size_t size)
{
	return cuMemAlloc(p, size);
}
