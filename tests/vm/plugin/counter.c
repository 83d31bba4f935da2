/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The access counter: a QEMU plugin that adds up the bytes which user code of
 * the machine loads and stores, by node of the vCPU and node of the page,
 * between two marks. control.h says how a program talks to it,
 * Documentation/internals/access-counter.rst how it is verified and what it
 * cannot show. Option: out=FILE, the report.
 *
 * Each vCPU adds to its own cells, from its own thread. Cells only grow and a
 * start mark copies them, so no reset races with an addition. Kernel code is
 * not instrumented: faults, copies and clearing of pages are not counted.
 */
#include "tests/vm/plugin/cells.h"
#include "tests/vm/plugin/control.h"
#include "tests/vm/plugin/nodemap.h"
#include "tests/vm/plugin/qemu.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define MAX_VCPUS 64
#define TEXT_MAX 256
#define NO_PAGE UINT64_MAX

/* Its own thread only, but for a look at the cells at a mark. */
static struct vcpu {
	_Alignas(64) struct cells cells;
	int node, is_in_body;
	unsigned last_memory, last_range;
	uint64_t page; /* told for the next access to the arena */
} vcpus[MAX_VCPUS];

static struct {
	/* Under the lock. Map and ranges change only while nothing counts. */
	pthread_mutex_t lock;
	FILE *out;
	char text[TEXT_MAX];
	unsigned text_size;
	struct nodemap map;
	struct ranges ranges;
	struct cells base[MAX_VCPUS]; /* at the start mark */

	/* Written under the lock, read by all vCPUs. */
	atomic_int is_on;
	atomic_int verify; /* node that touched pages must be on, or -1 */

	/* Of the one vCPU that verifies. */
	uint64_t nr_verified, nr_wrong;
} counter = { .lock = PTHREAD_MUTEX_INITIALIZER, .verify = -1 };

EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

static void start(void)
{
	unsigned i;

	for (i = 0; i < MAX_VCPUS; i++)
		counter.base[i] = vcpus[i].cells;
	atomic_store(&counter.is_on, 1);
}

static void stop(void)
{
	static struct cells sum, zero;
	unsigned i;
	int node;

	if (!atomic_exchange(&counter.is_on, 0))
		return;
	for (node = 0; node <= CELLS_NO_NODE; node++) {
		sum = zero;
		for (i = 0; i < MAX_VCPUS; i++)
			if (vcpus[i].node == node)
				cells_add_difference(&sum, &vcpus[i].cells,
						     &counter.base[i]);
		cells_print(&sum, &counter.ranges, node, counter.out);
	}
}

/* One line of text that a vCPU has said. */
static void obey(struct vcpu *v, const char *line)
{
	uint64_t from, to;
	char name[48];
	int cpu, node;

	if (sscanf(line, "cpu %d %d", &cpu, &node) == 2 && node >= 0 &&
	    node < CONTROL_MAX_NODES) {
		v->node = node;
		fprintf(counter.out, "cpu %d vcpu %d node %d\n", cpu,
			(int)(v - vcpus), node);
	} else if (sscanf(line, "memory %d %" SCNx64 " %" SCNx64, &node, &from,
			  &to) == 3 &&
		   node >= 0 && node < CONTROL_MAX_NODES) {
		if (nodemap_add(&counter.map, node, from, to))
			fprintf(counter.out, "refused %s\n", line);
	} else if (sscanf(line, "page %" SCNx64, &from) == 1) {
		v->page = from;
	} else if (!strcmp(line, "map")) {
		nodemap_print(&counter.map, counter.out);
	} else if (sscanf(line, "range %47s %" SCNx64 " %" SCNx64, name, &from,
			  &to) == 3) {
		if (ranges_add(&counter.ranges, name, from, to))
			fprintf(counter.out, "refused %s\n", line);
	} else if (!strcmp(line, "ranges")) {
		counter.ranges.nr = 0;
	} else if (!strncmp(line, "label ", 6) || !strncmp(line, "note ", 5)) {
		fprintf(counter.out, "%s\n", line);
	} else {
		fprintf(counter.out, "refused %s\n", line);
	}
}

static void hear(struct vcpu *v, char c)
{
	if (c != '\n') {
		if (counter.text_size < TEXT_MAX - 1)
			counter.text[counter.text_size++] = c;
		return;
	}
	counter.text[counter.text_size] = '\0';
	counter.text_size = 0;
	obey(v, counter.text);
	fflush(counter.out);
}

static void verified(void)
{
	atomic_store(&counter.verify, -1);
	fprintf(counter.out, "verified %" PRIu64 " wrong %" PRIu64 "\n",
		counter.nr_verified, counter.nr_wrong);
	fflush(counter.out);
	counter.nr_verified = 0;
	counter.nr_wrong = 0;
}

static void control(struct vcpu *v, unsigned word)
{
	if (word == CONTROL_ENTER || word == CONTROL_LEAVE) {
		v->is_in_body = word == CONTROL_ENTER;
		return;
	}
	pthread_mutex_lock(&counter.lock);
	if (word < CONTROL_START)
		hear(v, (char)word);
	else if (word == CONTROL_START)
		start();
	else if (word == CONTROL_STOP)
		stop();
	else if (word == CONTROL_VERIFIED)
		verified();
	else if (word >= CONTROL_VERIFY && word < CONTROL_END)
		atomic_store(&counter.verify, (int)(word - CONTROL_VERIFY));
	pthread_mutex_unlock(&counter.lock);
}

/* QEMU's number of the accessed page; false for what is no memory. */
static bool number_of(uint32_t info, uint64_t va, uint64_t *number)
{
	struct qemu_plugin_hwaddr *h = qemu_plugin_get_hwaddr(info, va);

	if (!h || qemu_plugin_hwaddr_is_io(h))
		return false;
	*number = qemu_plugin_hwaddr_phys_addr(h);
	return true;
}

static void add(struct cell *c, uint64_t size)
{
	c->bytes += size;
	c->accesses++;
}

static enum cells_class class_of(const struct vcpu *v, uint64_t va)
{
	if (va - ARENA_AT < ARENA_SIZE)
		return CELLS_DATA;
	if (!v->is_in_body)
		return CELLS_RUNTIME;
	/* An allocator writes into blocks that are free. */
	return va - HEAP_AT < HEAP_SIZE ? CELLS_DATA : CELLS_BODY;
}

static void count(struct vcpu *v, uint64_t va, int node, uint64_t size)
{
	enum cells_class class = class_of(v, va);
	int range;

	if (node < 0)
		node = CELLS_NO_NODE;
	add(&v->cells.class[class][node], size);
	if (class == CELLS_BODY)
		return;
	range = ranges_find(&counter.ranges, va, &v->last_range);
	if (range >= 0)
		add(&v->cells.range[range][node], size);
}

/* An access to arena or heap that a program has announced. */
static void learn_or_verify(struct vcpu *v, uint64_t number, int node)
{
	if (v->page != NO_PAGE) {
		pthread_mutex_lock(&counter.lock);
		nodemap_learn(&counter.map, v->page, number);
		pthread_mutex_unlock(&counter.lock);
		v->page = NO_PAGE;
	} else if (atomic_load(&counter.verify) >= 0) {
		counter.nr_verified++;
		counter.nr_wrong += node != atomic_load(&counter.verify);
	}
}

static void on_access(unsigned index, uint32_t info, uint64_t va, void *u)
{
	struct vcpu *v = &vcpus[index % MAX_VCPUS];
	bool is_on = atomic_load_explicit(&counter.is_on, memory_order_relaxed);
	uint64_t number;
	int node = -1;

	(void)u;
	if (va >= USER_END)
		return;
	if (va - CONTROL_AT < CONTROL_SIZE) {
		if (qemu_plugin_mem_is_store(info))
			control(v, (unsigned)(va - CONTROL_AT) / 8);
		return;
	}
	if (!is_on && va - ARENA_AT >= ARENA_SIZE + HEAP_SIZE)
		return;
	if (number_of(info, va, &number)) {
		node = nodemap_node(&counter.map, number, &v->last_memory);
		if (!is_on)
			learn_or_verify(v, number & ~UINT64_C(4095), node);
	}
	if (is_on)
		count(v, va, node, 1ull << qemu_plugin_mem_size_shift(info));
}

static void on_block(uint64_t id, struct qemu_plugin_tb *tb)
{
	size_t i, nr = qemu_plugin_tb_n_insns(tb);

	(void)id;
	if (qemu_plugin_tb_vaddr(tb) >= USER_END)
		return;
	for (i = 0; i < nr; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i),
						 on_access,
						 QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
}

static void on_exit(uint64_t id, void *u)
{
	(void)id;
	(void)u;
	fclose(counter.out);
}

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info,
			       int argc, char **argv);

EXPORT int qemu_plugin_install(uint64_t id, const struct qemu_info *info,
			       int argc, char **argv)
{
	int i;

	for (i = 0; i < argc; i++)
		if (!strncmp(argv[i], "out=", 4))
			counter.out = fopen(argv[i] + 4, "we");
	if (!counter.out || !info->system_emulation ||
	    info->system.max_vcpus > MAX_VCPUS) {
		fprintf(stderr,
			"counter: needs a machine with at most %d CPUs "
			"and out=FILE\n",
			MAX_VCPUS);
		return -1;
	}
	for (i = 0; i < MAX_VCPUS; i++) {
		vcpus[i].node = CELLS_NO_NODE;
		vcpus[i].page = NO_PAGE;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_block);
	qemu_plugin_register_atexit_cb(id, on_exit, NULL);
	return 0;
}
