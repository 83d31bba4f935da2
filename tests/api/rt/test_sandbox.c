/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Machines that hide themselves: chroots and build sandboxes without /sys or
 * /proc, masked directories of it, a filter that refuses sched_getaffinity().
 * The runtime opens, gives memory, runs tasks; lkdf doctor says what is hidden.
 */
#include "tests/api/io_fault.h"
#include "tests/api/pages.h"

#include <sys/wait.h>

static char lkdf[PATH_MAX + 16];

/* The runtime's own word where it has the machine from. */
static void take_source(struct lkdf *rt, char *to, size_t size)
{
	char text[4096];
	ssize_t n;
	int fd[2];

	must(pipe2(fd, O_NONBLOCK | O_CLOEXEC));
	lkdf_describe(rt, "topo", "json", fd[1]);
	n = read(fd[0], text, sizeof(text) - 1);
	close(fd[0]);
	close(fd[1]);
	text[n > 0 ? n : 0] = '\0';
	snprintf(to, size, "%.*s", (int)strcspn(text, ","), text);
	if (strstr(text, "\"source\""))
		snprintf(to, size, "%.100s", strstr(text, "\"source\""));
}

static int count(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	atomic_fetch_add(*(atomic_int **)arg, 1);
	return 0;
}

/* Memory is given and tasks run; source: what the description says. */
static void runtime_works(const char *source)
{
	struct lkdf *rt = api_open(NULL);
	struct lkdf_kind *k = api_kind(rt, "count", count, sizeof(void *), 0);
	atomic_int nr = 0, *to = &nr;
	struct lkdf_place *p;
	char text[256];
	void *block;
	int i;

	take_source(rt, text, sizeof(text));
	has(text, source, "the source is told");
	must(lkdf_places(rt, LKDF_PLACE_NODE, &p, 1));
	is(lkdf_alloc(p, LKDF_MEM_OWN, 8 << 20, 0, NULL, &block), 0,
	   "memory is given");
	memset(block, 1, 8 << 20);
	lkdf_free(rt, block);
	for (i = 0; i < 100; i++)
		must(lkdf_submit(rt, NULL,
				 ATTR(lkdf_task, .kind = k, .arg = &to), NULL));
	is(lkdf_scope_wait(rt, NULL, -1), 0, "tasks run");
	is(atomic_load(&nr), 100, "all of them");
	lkdf_kind_put(k);
	is(lkdf_close(rt), 0, "the runtime closes");
}

/* What doctor says of it, in a process of its own. */
static void doctor_says(const char *part)
{
	char text[16384];
	size_t used = 0;
	ssize_t n;
	pid_t pid;
	int fd[2];

	if (access(lkdf, X_OK)) {
		skip("doctor says it", "lkdf is not built here");
		return;
	}
	must(pipe(fd));
	pid = fork();
	if (!pid) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		execl(lkdf, "lkdf", "doctor", (char *)NULL);
		_exit(5);
	}
	close(fd[1]);
	while (used < sizeof(text) - 1 &&
	       (n = read(fd[0], text + used, sizeof(text) - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	close(fd[0]);
	waitpid(pid, NULL, 0);
	has(text, part, "doctor says it");
	has(text, "warn  topology: ", "as a warning");
}

static bool hide(const char *dir)
{
	if (access(dir, F_OK)) {
		skip(dir, "it is not on this machine");
		return false;
	}
	if (!io_own_mounts() || mount("none", dir, "tmpfs", 0, NULL)) {
		skip(dir, "mounts of its own are refused here");
		return false;
	}
	return true;
}

static void without_sys(void)
{
	if (!hide("/sys"))
		return;
	runtime_works("no hwloc: no CPUs in /sys/devices/system/cpu");
	doctor_says("no CPUs in /sys/devices/system/cpu");
}

static void with_an_empty_directory_of_cpus(void)
{
	if (hide("/sys/devices/system/cpu"))
		runtime_works("no hwloc: no CPUs in /sys/devices/system/cpu");
}

static void with_an_empty_directory_of_nodes(void)
{
	if (!hide("/sys/devices/system/node"))
		return;
	runtime_works("no hwloc: /sys/devices/system/node is empty");
	doctor_says("/sys/devices/system/node is empty");
}

static void without_proc(void)
{
	if (hide("/proc"))
		runtime_works("\"source\":");
}

static void without_both(void)
{
	if (hide("/proc") && !mount("none", "/sys", "tmpfs", 0, NULL))
		runtime_works("no hwloc: no CPUs in /sys/devices/system/cpu");
}

static void without_affinity(void)
{
	if (HAS_SANITIZER) {
		skip("sched_getaffinity is refused", "the sanitizer asks it");
		return;
	}
	if (forbid_call(SYS_sched_getaffinity, EPERM)) {
		skip("sched_getaffinity", "no filter can be set here");
		return;
	}
	runtime_works("no hwloc: sched_getaffinity is refused");
	doctor_says("sched_getaffinity is refused");
}

static void without_affinity_and_sys(void)
{
	if (HAS_SANITIZER || !hide("/sys") ||
	    forbid_call(SYS_sched_getaffinity, EINVAL))
		return;
	runtime_works("no hwloc: sched_getaffinity is refused");
}

/* hwloc would take hours. */
static void machines_too_large_are_refused(void)
{
	static const char *const text[] = {
		"numa:100000 core:100000", "core:4097",
		"numa:1025 core:1",	   "pack:2 [numa] core:3000",
		"99999999999999999999",
	};
	char options[128];
	struct lkdf *rt;
	size_t i;

	for (i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		snprintf(options, sizeof(options), "topology=\"%s\"", text[i]);
		is(lkdf_open(options, &rt), -EINVAL, "%s", text[i]);
		has(lkdf_errmsg(), "more than 4096 CPUs", "the bound is named");
	}
	rt = api_open("workers=1,topology=\"[numa] l3:2(size=1000) core:64\"");
	is(lkdf_close(rt), 0, "128 CPUs with attributes open");
	is(lkdf_open("topology=\"numa:64 core:1\",workers=512,"
		     "workers_per_node=yes",
		     &rt),
	   -EINVAL, "64 times 512 workers are refused");
	has(lkdf_errmsg(), "32768 workers", "with their number");
}

int main(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end;

	self[n > 0 ? n : 0] = '\0';
	end = strrchr(self, '/');
	if (end)
		*end = '\0';
	snprintf(lkdf, sizeof(lkdf), "%s/../../../lkdf", self);
	tap_start(100);
	pages_in_child(without_sys);
	pages_in_child(with_an_empty_directory_of_cpus);
	pages_in_child(with_an_empty_directory_of_nodes);
	pages_in_child(without_proc);
	pages_in_child(without_both);
	pages_in_child(without_affinity);
	pages_in_child(without_affinity_and_sys);
	pages_in_child(machines_too_large_are_refused);
	return tap_end();
}
