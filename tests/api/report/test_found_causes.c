/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Three programs with one number, mode or call that costs most, each as it runs
 * and with its fix: memory that each body maps anew, a mode that puts tasks in
 * order, submitted and in a sealed graph, and a scope of one task. lkdf report
 * names the cause of the one and says none of it of the other. Bodies count the
 * CPU time that they get, and two workers may share a CPU: who starves does so
 * on any machine, if for a small share of a time in which others have the CPUs:
 * small causes are asked for, too.
 */
#include "tests/api/recorded.h"

#include <sys/mman.h>
#include <sys/resource.h>

#define NR_TASKS 60
#define WORK_NS 1000000
#define PAGES 256
/* A thread that submits may lose its CPU in between, and nobody starves for the
 * cause then. */
#define TRIES 5

static char file[] = "/tmp/lkdf-causes-XXXXXX";

static int64_t cpu_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * SECOND + t.tv_nsec;
}

static int work(struct lkdf_ctx *c, void *arg)
{
	int64_t end = cpu_now() + WORK_NS;

	(void)c;
	(void)arg;
	while (cpu_now() < end)
		;
	return 0;
}

static struct lkdf *open_recorded(void)
{
	char text[128];

	unlink(file);
	snprintf(text, sizeof(text), "workers=2,pin=no,trace=%s", file);
	return api_open(text);
}

static const char *finding_after(struct lkdf *rt, const char *id)
{
	must(lkdf_close(rt));
	recorded_read_with(file, "-v");
	return recorded_finding(id);
}

/* ---- a mode that puts tasks in order ------------------------------------ */

static struct lkdf_data *make_config(struct lkdf *rt)
{
	struct lkdf_data *d = NULL;

	must(lkdf_data_create(
		rt, ATTR(lkdf_data_attr, .bytes = 4096, .name = "config"), &d));
	return d;
}

/* All at once; the first one writes what the others use. */
static void submit_lookups(struct lkdf *rt, struct lkdf_kind *k,
			   struct lkdf_data *config, uint32_t mode)
{
	const struct lkdf_use first = { .data = config, .mode = LKDF_WRITE };
	const struct lkdf_use use = { .data = config, .mode = mode };
	const struct lkdf_task writer = {
		.size = sizeof(writer), .kind = k, .use = &first, .nr_use = 1
	};
	const struct lkdf_task lookup = {
		.size = sizeof(lookup), .kind = k, .use = &use, .nr_use = 1
	};
	const struct lkdf_task *task[NR_TASKS] = { &writer };
	int i;

	for (i = 1; i < NR_TASKS; i++)
		task[i] = &lookup;
	must(lkdf_submit_many(rt, NULL, task, NR_TASKS, NULL));
}

static void run_lookups(struct lkdf *rt, struct lkdf_kind *k,
			struct lkdf_data *config, uint32_t mode)
{
	struct lkdf_use use = { .data = config, .mode = LKDF_WRITE };
	struct lkdf_graph *g = NULL;
	int i;

	must(lkdf_graph_create(rt, NULL, &g));
	for (i = 0; i < NR_TASKS; i++, use.mode = mode)
		must(lkdf_graph_add(g, k, NULL, &use, 1));
	must(lkdf_graph_seal(g, NULL));
	must(lkdf_graph_run(g, NULL, NULL, NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_graph_put(g);
}

static const char *find_order(uint32_t mode, bool is_sealed)
{
	struct lkdf *rt = open_recorded();
	struct lkdf_kind *k = api_kind(rt, "lookup", work, 0, 0);
	struct lkdf_data *config = make_config(rt);

	if (is_sealed)
		run_lookups(rt, k, config, mode);
	else
		submit_lookups(rt, k, config, mode);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_data_put(config);
	lkdf_kind_put(k);
	return finding_after(rt, "order");
}

static void mode_puts_in_order(bool is_sealed)
{
	const char *found = "";
	int i;

	for (i = 0; i < TRIES && !found[0]; i++)
		found = find_order(LKDF_RW, is_sealed);
	has(found, "lookup run one after another: RW on config",
	    "the data and the mode are told, %s",
	    is_sealed ? "of a sealed graph" : "of tasks");
	has(found, "READ would let them run together", "and what to change");
	is(find_order(LKDF_READ, is_sealed)[0], 0, "with READ nothing is");
}

/* ---- a scope of one task ------------------------------------------------ */

static const char *find_window(uint32_t max_tasks)
{
	struct lkdf *rt = open_recorded();
	struct lkdf_kind *k = api_kind(rt, "step", work, 0, 0);
	struct lkdf_scope *s = NULL;
	int i;

	must(lkdf_scope_create(rt,
			       ATTR(lkdf_scope_attr, .name = "stage",
				    .max_tasks = max_tasks),
			       &s));
	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_submit(rt, s, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, s, -1));
	lkdf_scope_put(s);
	lkdf_kind_put(k);
	return finding_after(rt, "window");
}

static void scope_is_full(void)
{
	const char *found = "";
	int i;

	for (i = 0; i < TRIES && !found[0]; i++)
		found = find_window(1);
	has(found, "room in scope \\\"stage\\\" of 1 task",
	    "a scope that has no room is told by its name");
	has(found, ".max_tasks of 4 or more", "with a size");
	is(find_window(2 * NR_TASKS)[0], 0, "with that room it is none");
}

/* ---- memory that each body maps anew ------------------------------------ */

static char *kept[2]; /* by worker */
static bool keeps;

static void touch_pages(char *p)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), i;

	for (i = 0; i < PAGES; i++)
		*(volatile char *)(p + i * page) = 1;
}

static char *map_pages(void)
{
	size_t size = PAGES * (size_t)sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		exit(1);
	return p;
}

static void unmap_pages(char *p)
{
	munmap(p, PAGES * (size_t)sysconf(_SC_PAGESIZE));
}

static int fill_pages(struct lkdf_ctx *c, void *arg)
{
	int64_t end = cpu_now() + 4 * WORK_NS;
	char *p;

	(void)arg;
	while (cpu_now() < end) {
		p = keeps ? kept[lkdf_worker(c)] : map_pages();
		touch_pages(p);
		if (!keeps)
			unmap_pages(p);
	}
	return 0;
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

/* Of the CPU time of the process since start: as the kernel's clock counts it.
 */
static double system_share(const struct rusage *start)
{
	struct rusage now;
	double user, system;

	getrusage(RUSAGE_SELF, &now);
	user = seconds_of(now.ru_utime) - seconds_of(start->ru_utime);
	system = seconds_of(now.ru_stime) - seconds_of(start->ru_stime);
	return system / (system + user + 1e-9);
}

static const char *find_mapped(bool is_fixed, double *share)
{
	struct lkdf *rt = open_recorded();
	struct lkdf_kind *k = api_kind(rt, "fill", fill_pages, 0, 0);
	struct rusage start;
	int i;

	keeps = is_fixed;
	for (i = 0; i < 2; i++) {
		kept[i] = map_pages();
		touch_pages(kept[i]);
	}
	getrusage(RUSAGE_SELF, &start);
	for (i = 0; i < NR_TASKS; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	*share = system_share(&start);
	for (i = 0; i < 2; i++)
		unmap_pages(kept[i]);
	lkdf_kind_put(k);
	return finding_after(rt, "kernel");
}

static void bodies_map_memory(void)
{
	double share;
	const char *found = find_mapped(false, &share);

	if (share < 0.4) {
		skip("bodies in the kernel are told",
		     "the clock of the kernel does not see such bodies");
	} else {
		has(found, "fill spends", "bodies in the kernel are told");
		has(found, "keep memory from body to body",
		    "and what to change");
	}
	found = find_mapped(true, &share);
	/*
	 * ThreadSanitizer has memory of its own for what bodies write. The
	 * report names 10 % of the workers' time, and both counts advance in
	 * steps of up to 10 ms: they may differ by half of that.
	 */
	if (share > 0.05 && strstr(found, "keep memory"))
		skip("with the memory kept they are not",
		     "others have the bodies in the kernel");
	else
		ok(!strstr(found, "keep memory"),
		   "with the memory kept they are not");
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(100);
	probe_find(argv[0]);
	if (access(probe_tool, X_OK)) {
		printf("1..0 # SKIP there is no tool\n");
		return 0;
	}
	close(must(mkstemp(file)));
	mode_puts_in_order(false);
	mode_puts_in_order(true);
	scope_is_full();
	bodies_map_memory();
	unlink(file);
	return tap_end();
}
