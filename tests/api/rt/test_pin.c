/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which CPUs the threads of workers are bound to: few workers to their node,
 * those of two runtimes in one process not to the same CPUs, and a worker whose
 * CPU others have leaves it. lkdf doctor says of two runtimes that share CPUs.
 */
#include "tests/api/api.h"

#include <libgen.h>
#include <lkdf/signals.h>
#include <pthread.h>
#include <sched.h>

static cpu_set_t allowed;
static char lkdf[PATH_MAX];

static int look(struct lkdf_ctx *c, void *arg)
{
	cpu_set_t *set = *(cpu_set_t **)arg;

	(void)c;
	return sched_getaffinity(0, sizeof(*set), set) ? -EIO : 0;
}

/* Of the thread that runs a body of a runtime with one worker. */
static cpu_set_t cpus_of(struct lkdf *rt)
{
	struct lkdf_kind *k = api_kind(rt, "look", look, sizeof(void *), 0);
	cpu_set_t set, *at = &set;

	CPU_ZERO(&set);
	must(api_call(rt, k, &at));
	lkdf_kind_put(k);
	return set;
}

static bool meet(const cpu_set_t *a, const cpu_set_t *b)
{
	cpu_set_t both;

	CPU_AND(&both, a, b);
	return CPU_COUNT(&both);
}

/* Where the kernel has no nodes all CPUs are of one. */
static bool is_of_node(int cpu, int node)
{
	char path[80];

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpu%d",
		 node, cpu);
	return !access(path, F_OK) || access("/sys/devices/system/node", F_OK);
}

/* The allowed CPUs of the node of that CPU. */
static cpu_set_t cpus_beside(int cpu)
{
	cpu_set_t set = allowed;
	int node = 0, i;

	while (node < 1023 && !is_of_node(cpu, node))
		node++;
	for (i = 0; i < CPU_SETSIZE; i++)
		if (CPU_ISSET(i, &set) && !is_of_node(i, node))
			CPU_CLR(i, &set);
	return set;
}

static int first_of(const cpu_set_t *set)
{
	int i = 0;

	while (i < CPU_SETSIZE && !CPU_ISSET(i, set))
		i++;
	return i;
}

/* The CPUs of a node that has several; none. */
static cpu_set_t cpus_of_one_node(void)
{
	cpu_set_t set;
	int i;

	for (i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &allowed))
			continue;
		set = cpus_beside(i);
		if (CPU_COUNT(&set) > 1)
			return set;
	}
	CPU_ZERO(&set);
	return set;
}

/* The first CPUs of these, nr of them, as an option. */
static void cpus_option(const cpu_set_t *from, int nr, char *to, size_t size)
{
	size_t used = (size_t)snprintf(to, size, "cpus=\"");
	int i;

	for (i = 0; nr && i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, from))
			continue;
		used += (size_t)snprintf(to + used, size - used, "%d,", i);
		nr--;
	}
	/* The last comma ends the value. */
	snprintf(to + used - 1, size - used + 1, "\"");
}

static void few_workers_are_bound_to_their_node(void)
{
	struct lkdf *rt = api_open("workers=1");
	cpu_set_t set = cpus_of(rt), node = cpus_beside(first_of(&set));

	ok(CPU_EQUAL(&set, &node), "auto: one worker has the %d CPUs of a node",
	   CPU_COUNT(&node));
	ok(!(lkdf_caps(rt) & LKDF_CAP_PINNED),
	   "and says that it is not on one");
	must(lkdf_close(rt));
	rt = api_open("workers=1,pin=yes");
	set = cpus_of(rt);
	is(CPU_COUNT(&set), 1, "pin=yes: it has one");
	must(lkdf_close(rt));
	rt = api_open("workers=1,pin=true");
	set = cpus_of(rt);
	is(CPU_COUNT(&set), 1, "which pin=true says, too");
	must(lkdf_close(rt));
	rt = api_open("workers=1,pin=off");
	set = cpus_of(rt);
	is(CPU_EQUAL(&set, &allowed), 1, "pin=off: it has what its maker has");
	must(lkdf_close(rt));
}

static void a_list_binds_to_one_each(void)
{
	struct lkdf *rt;
	char options[64];
	cpu_set_t set;

	cpus_option(&allowed, 1, options, sizeof(options));
	rt = api_open(options);
	set = cpus_of(rt);
	is(CPU_COUNT(&set), 1, "auto with %s: it has one", options);
	must(lkdf_close(rt));
}

static void two_runtimes_have_different_cpus(void)
{
	struct lkdf *a = api_open("workers=1,pin=yes");
	struct lkdf *b = api_open("workers=1,pin=yes"), *c;
	cpu_set_t of_a = cpus_of(a), of_b = cpus_of(b), of_c;

	ok(!meet(&of_a, &of_b), "two runtimes have one CPU each, not the same");
	must(lkdf_close(a));
	c = api_open("workers=1,pin=yes");
	of_c = cpus_of(c);
	ok(CPU_EQUAL(&of_a, &of_c), "that of a closed one is free again");
	must(lkdf_close(b));
	must(lkdf_close(c));
}

/* The first one has all CPUs. */
static void the_second_is_not_pinned_to_them(void)
{
	struct lkdf *a, *b;
	char options[8192];

	cpus_option(&allowed, CPU_COUNT(&allowed), options, sizeof(options));
	a = api_open("pin=yes,reserve_workers=yes");
	b = api_open(options);
	if (lkdf_nr_workers(a) < CPU_COUNT(&allowed))
		skip("the second is bound to nodes", "cores have two threads");
	else
		ok(!(lkdf_caps(b) & LKDF_CAP_PINNED),
		   "auto: without free CPUs the second is bound to nodes");
	must(lkdf_close(b));
	must(lkdf_close(a));
}

/* ---- a CPU that others have ---------------------------------------------- */

struct hogs {
	pthread_t thread[4];
	atomic_bool is_over;
};

static void *hog(void *arg)
{
	struct hogs *h = arg;

	while (!atomic_load_explicit(&h->is_over, memory_order_relaxed))
		;
	return NULL;
}

static void start_hogs(struct hogs *h, int cpu)
{
	pthread_attr_t attr;
	cpu_set_t set;
	int i;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	must(pthread_attr_init(&attr));
	must(pthread_attr_setaffinity_np(&attr, sizeof(set), &set));
	for (i = 0; i < 4; i++)
		must(pthread_create(&h->thread[i], &attr, hog, h));
	pthread_attr_destroy(&attr);
}

static void end_hogs(struct hogs *h)
{
	int i;

	atomic_store(&h->is_over, true);
	for (i = 0; i < 4; i++)
		pthread_join(h->thread[i], NULL);
}

static int work(struct lkdf_ctx *c, void *arg)
{
	int i;

	(void)c;
	(void)arg;
	for (i = 0; i < 1000000; i++)
		__asm__ volatile("" ::: "memory");
	return 0;
}

static uint64_t stat_of(struct lkdf *rt, const char *name)
{
	uint64_t value = 0;

	must(lkdf_stat(rt, name, &value));
	return value;
}

static uint64_t waited_ns(struct lkdf *rt)
{
	struct lkdf_facts f = { .size = sizeof(f) };

	must(lkdf_signals(rt, 0, &f));
	return f.run_delay_ns.value;
}

/* Until one has left its CPU, or has waited for so long. */
static void work_beside_hogs(struct lkdf *rt, uint64_t ns)
{
	struct lkdf_kind *k = api_kind(rt, "work", work, 0, 0);
	uint64_t first = waited_ns(rt);
	int i;

	while (!stat_of(rt, "lkdf.unpinned") && waited_ns(rt) - first < ns)
		for (i = 0; i < 64; i++)
			must(api_call(rt, k, NULL));
	lkdf_kind_put(k);
}

static bool kernel_tells_delays(void)
{
	FILE *f = fopen("/proc/thread-self/schedstat", "re");
	unsigned long long run = 0;
	bool does = f && fscanf(f, "%llu", &run) == 1;

	if (f)
		fclose(f);
	return does;
}

/* The worker has the first of two CPUs, as it shares its node with another. */
static void it_leaves_a_cpu_that_others_have(const char *pin, bool leaves)
{
	cpu_set_t node = cpus_of_one_node();
	struct hogs h = { .is_over = false };
	char options[128], cpus[64];
	struct lkdf *rt;
	uint64_t cpu;

	if (!kernel_tells_delays()) {
		skip("it leaves its CPU", "the kernel counts no delays");
		return;
	}
	if (CPU_COUNT(&node) < 2) {
		skip("it leaves its CPU", "each node has one CPU");
		return;
	}
	cpus_option(&node, 2, cpus, sizeof(cpus));
	snprintf(options, sizeof(options), "workers=1,%s,%s", pin, cpus);
	rt = api_open(options);
	must(lkdf_stat(rt, "lkdf.worker.0.cpu", &cpu));
	start_hogs(&h, (int)cpu);
	work_beside_hogs(rt, leaves ? 20000000000u : 1500000000u);
	is(stat_of(rt, "lkdf.unpinned"), leaves, "%s: it has left: %d", pin,
	   leaves);
	is(lkdf_stat(rt, "lkdf.worker.0.cpu", &cpu), leaves ? -ENOENT : 0,
	   "%s: which its CPU tells", pin);
	end_hogs(&h);
	must(lkdf_close(rt));
}

/* ---- what is said -------------------------------------------------------- */

static bool doctor_says(const char *part)
{
	char command[PATH_MAX + 32], line[512];
	bool has = false;
	FILE *f;

	snprintf(command, sizeof(command), "'%s' doctor", lkdf);
	f = popen(command, "re");
	while (f && fgets(line, sizeof(line), f))
		has |= strstr(line, "bound workers: ") && strstr(line, part);
	if (f)
		pclose(f);
	return has;
}

static void doctor_says_that_cpus_are_shared(const char *program)
{
	char options[80], cpus[64], pid[16], path[PATH_MAX];
	struct lkdf *a, *b;

	snprintf(path, sizeof(path), "%s", program);
	snprintf(lkdf, sizeof(lkdf), "%.3900s/../../../lkdf", dirname(path));
	if (access(lkdf, X_OK)) {
		skip("doctor", "lkdf is not built here");
		return;
	}
	cpus_option(&allowed, 1, cpus, sizeof(cpus));
	snprintf(options, sizeof(options), "pin=yes,%s", cpus);
	snprintf(pid, sizeof(pid), "%d", getpid());
	a = api_open(options);
	b = api_open(options);
	ok(doctor_says(pid), "doctor says that two runtimes share a CPU");
	must(lkdf_close(b));
	must(lkdf_close(a));
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(100);
	must(sched_getaffinity(0, sizeof(allowed), &allowed));
	if (CPU_COUNT(&allowed) < 2) {
		skip("workers and CPUs", "there is one CPU only");
		return tap_end();
	}
	few_workers_are_bound_to_their_node();
	a_list_binds_to_one_each();
	two_runtimes_have_different_cpus();
	the_second_is_not_pinned_to_them();
	it_leaves_a_cpu_that_others_have("pin=auto", true);
	it_leaves_a_cpu_that_others_have("pin=yes", false);
	doctor_says_that_cpus_are_shared(argv[0]);
	return tap_end();
}
