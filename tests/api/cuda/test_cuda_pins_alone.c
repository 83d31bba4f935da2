/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pages of data that the driver knows, and ends of a program or of a card: a
 * card that is lost, a data that is left at close, a forked child, nodes that a
 * data may not move to. Each case is a process of its own.
 */
#include "tests/cuda/pins.h"

#include <signal.h>

static struct lkdf_data *pinned_data(void)
{
	struct lkdf_data *d = make_data();

	must(go_rounds(d, 0, 3));
	needs(registered() == 1);
	return d;
}

static const char wild_text[] =
	"extern \"C\" __global__ void wild(unsigned long *x, unsigned long at)\n"
	"{ *(volatile unsigned long *)at = 1; }\n";

/* A card is lost with its registered pages, which the program gives away. */
static int run_lost(void)
{
	struct lkdf_data *d, *other;
	struct lkdf_kind *wild;
	uint64_t where = 0xdead0000;
	int rc;

	open_cards("workers=2");
	d = pinned_data();
	other = make_data();
	wild = text_kind(rt, "wild", wild_text);
	rc = device_call(rt, wild, place[0], other, &where);
	lkdf_kind_put(wild);
	lkdf_data_put(d);
	lkdf_data_put(other);
	if (close_cards())
		return 9;
	/* A lost driver is asked for nothing. */
	return rc == -ENODEV && !forgotten() ? 0 : 1;
}

/* The call that registers finds the fault. */
static int run_fault_at_pin(void)
{
	struct lkdf_data *d;
	int rc;

	open_cards("workers=2");
	d = make_data();
	must(let_fail("cuMemHostRegister", 700, 0));
	rc = go_rounds(d, 0, 4);
	printf("# %s\n", lkdf_errmsg());
	lkdf_data_put(d);
	return close_cards() ? 9 : rc == -ENODEV ? 0 : 1;
}

/* A data is left at close. */
static int run_left(void)
{
	open_cards("workers=2");
	pinned_data();
	if (close_cards())
		return 9;
	return forgotten() == 1 && !fake_bytes(1) ? 0 : 1;
}

/* A forked child gives its pages away; the parent's stay. */
static int run_fork(void)
{
	struct lkdf_data *d;
	int status = -1, rc;
	pid_t pid;

	open_cards("workers=2");
	d = pinned_data();
	pid = fork();
	if (!pid) {
		lkdf_close(rt);
		_exit(7);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		return 3;
	rc = go_rounds(d, 0, 3);
	lkdf_data_put(d);
	return close_cards() ? 9 : rc || WEXITSTATUS(status) != 7;
}

/* On a machine of two nodes that is made up a data moves by a copy. */
static int run_moved(void)
{
	struct lkdf_event moved;
	void *was = NULL, *is_now = NULL;
	struct lkdf_data *d;
	int rc = 0, node;

	open_cards("topology=\"numa:2 core:2\",workers=2");
	d = pinned_data();
	must(lkdf_data_acquire(d, LKDF_READ, -1, &was));
	lkdf_data_release(d);
	for (node = 0; node < 2; node++) {
		must(lkdf_data_prefetch(d, lkdf_place_node(rt, node), &moved));
		rc |= lkdf_event_wait(moved, -1);
		must(lkdf_data_acquire(d, LKDF_READ, -1, &is_now));
		lkdf_data_release(d);
		rc |= was != is_now;
		rc |= go_rounds(d, 0, 2);
	}
	lkdf_data_put(d);
	return close_cards() ? 9 : rc;
}

/* One that no driver knows does move. */
static int run_moves(void)
{
	struct lkdf_event moved;
	void *was = NULL, *is_now = NULL;
	struct lkdf_data *d;
	int node, nr = 0;

	open_cards("topology=\"numa:2 core:2\",workers=2,device_pin=0");
	d = make_data();
	must(go_rounds(d, 0, 3));
	for (node = 0; node < 2; node++) {
		must(lkdf_data_acquire(d, LKDF_READ, -1, &was));
		lkdf_data_release(d);
		must(lkdf_data_prefetch(d, lkdf_place_node(rt, node), &moved));
		must(lkdf_event_wait(moved, -1));
		must(lkdf_data_acquire(d, LKDF_READ, -1, &is_now));
		lkdf_data_release(d);
		nr += was != is_now;
		must(go_rounds(d, 0, 3));
	}
	lkdf_data_put(d);
	return close_cards() ? 9 : registered() || !nr;
}

static int run_serial(void)
{
	struct lkdf_data *d;

	open_cards("serial=yes");
	d = pinned_data();
	lkdf_data_put(d);
	return close_cards() ? 9 : forgotten() != 1 || fake_bytes(1);
}

/* The driver for tests sees pages that go with their registration. */
static int run_gone(void)
{
	void *at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct cu cu;

	dup2(1, 2);
	if (!load_driver(&cu))
		return 2;
	if (cu.cuMemHostRegister(at, BYTES, 1))
		return 3;
	munmap((char *)at + BYTES - 4096, 4096);
	return 4;
}

static const struct {
	int (*fn)(void);
	const char *what;
} alone[] = {
	{ run_lost, "a card that is lost with registered pages" },
	{ run_fault_at_pin,
	  "a fault that registering finds is one of the card" },
	{ run_left, "of a data that is left at close they are forgotten" },
	{ run_fork, "a forked child gives its pages away" },
	{ run_moved, "a data that the driver knows stays where it is" },
	{ run_moves, "with device_pin=0 it moves, and none is registered" },
	{ run_serial, "without threads they are registered and forgotten" },
};

#define NR_ALONE (sizeof(alone) / sizeof(alone[0]))

static void each_in_a_process(void)
{
	static struct child c[NR_ALONE], gone;
	size_t i;

	for (i = 0; i < NR_ALONE; i++)
		start_child(&c[i], alone[i].fn);
	start_child(&gone, run_gone);
	for (i = 0; i < NR_ALONE; i++)
		is(end_child(&c[i]), 0, "%s", alone[i].what);
	for (i = 0; i < NR_ALONE; i++)
		printf("%s", c[i].said);
	has(c[1].said, "ILLEGAL_ADDRESS", "with the driver's error");
	is(end_child(&gone), -SIGABRT, "registered pages do not go");
	has(gone.said, "munmap(", "the driver says by which call");
}

int main(void)
{
	tap_start(120);
	setenv("LKDF_TEST_DEVICE", "cuda", 1);
	setenv("FAKE_CUDA_CARDS", "2", 1);
	if (!find_driver()) {
		skip("registered pages", "the driver is not that for tests");
		return tap_end();
	}
	cache_begin();
	each_in_a_process();
	cache_end();
	return tap_end();
}
