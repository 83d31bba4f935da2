/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How the driver is found and begins, in one process and another. */
#include "tests/cuda/conformance/check.h"
#include "tests/watchdog.h"

#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static int nr_tasks(void)
{
	int n = 0;
	FILE *f = popen("ls /proc/$PPID/task | wc -l", "r");

	if (f && fscanf(f, "%d", &n) != 1)
		n = -1;
	if (f)
		pclose(f);
	return n;
}

static void call_nothing(void *arg)
{
	(void)arg;
}

static void load_all(void)
{
#define ONE(name, version, ...) +1
	say(0, "all %d entries at %d", 0 CU_CALLS(ONE), CU_ASK);
#undef ONE
}

static void load_unknown(void)
{
	void *f = bogus();
	unsigned status = 9;
	cu_result r = cu.get("cuNoSuchCall", &f, CU_ASK, 0, &status);

	say(r, "status %u, pointer %s", status, f ? "kept" : "NULL");
}

static void load_too_new(void)
{
	void *f = bogus();
	unsigned status = 9;
	cu_result r = cu.get("cuFuncGetParamInfo", &f, CU_ASK, 0, &status);

	say(r, "status %u, pointer %s", status, f ? "kept" : "NULL");
}

static void load_too_old(void)
{
	void *f = NULL;
	unsigned status = 9;
	cu_result r = cu.get("cuLaunchHostFunc", &f, 9020, 0, &status);

	say(r, "status %u", status);
}

static void load_future(void)
{
	void *f = NULL;
	unsigned status = 9;
	cu_result r = cu.get("cuInit", &f, 99000, 0, &status);

	say(r, "status %u", status);
}

static void load_null(void)
{
	void *f = NULL;

	say(cu.get(NULL, &f, CU_ASK, 0, NULL), NULL);
}

static void load_suffix(void)
{
	void *f = NULL;
	unsigned status = 9;
	cu_result r = cu.get("cuMemAlloc_v2", &f, CU_ASK, 0, &status);

	say(r, "status %u: a name with _v2", status);
}

static void load_by_dlsym(void)
{
	say(NONE, "cuMemAlloc by dlsym %s",
	    dlsym(cu.library, "cuMemAlloc_v2") ? "there" : "missing");
}

static void *stub_symbol(const char *name)
{
	void *h = stub[0] ? dlopen(stub, RTLD_NOW | RTLD_LOCAL) : NULL;

	return h ? dlsym(h, name) : NULL;
}

static void load_stub(void)
{
	cu_result (*init)(unsigned);
	void *f = stub_symbol("cuInit");

	memcpy(&init, &f, sizeof(f));
	if (f)
		say(init(0), NULL);
	else
		say(NONE, "no stub at hand");
}

static void load_stub_get(void)
{
	cu_result (*gp)(const char *, void **, int, uint64_t, unsigned *);
	void *f = stub_symbol("cuGetProcAddress_v2"), *p = NULL;
	unsigned status = 9;
	cu_result r;

	memcpy(&gp, &f, sizeof(f));
	if (!f) {
		say(NONE, "no stub at hand");
		return;
	}
	r = gp("cuInit", &p, CU_ASK, 0, &status);
	say(r, "pointer %s", p ? "given" : "NULL");
}

static void init_before(void)
{
	int n;

	say(cu.cuDeviceGetCount(&n), NULL);
}

static void init_alloc_before(void)
{
	say(cu.cuMemAlloc(&mem, 64), NULL);
}

static void init_flags(void)
{
	say(cu.cuInit(1), NULL);
}

static void init_version_before(void)
{
	int v = 0;
	cu_result r = cu.cuDriverGetVersion(&v);

	say(r, "%d (card)", v);
}

static void init_name_before(void)
{
	const char *s = NULL;
	cu_result r = cu.cuGetErrorName(700, &s);

	say(r, "%s", s ? s : "NULL");
}

static void init_twice(void)
{
	cu.cuInit(0);
	say(cu.cuInit(0), NULL);
}

static void init_no_device(void)
{
	setenv("CUDA_VISIBLE_DEVICES", "", 1);
	say(cu.cuInit(0), NULL);
}

static void init_bad_visible(void)
{
	setenv("CUDA_VISIBLE_DEVICES", "7", 1);
	say(cu.cuInit(0), NULL);
}

static void init_after_fork(void)
{
	int status;
	pid_t p;

	prepare();
	p = fork();
	if (!p) {
		cu_ptr at;

		watchdog_watch(10);
		_exit((int)cu.cuMemAlloc(&at, 64) & 127);
	}
	waitpid(p, &status, 0);
	if (WIFSIGNALED(status))
		say(NONE, "cuMemAlloc in a forked child: signal %d",
		    WTERMSIG(status));
	else
		say((cu_result)WEXITSTATUS(status),
		    "cuMemAlloc in a forked child");
}

static void init_fork_init(void)
{
	int status;
	pid_t p;

	prepare();
	p = fork();
	if (!p) {
		watchdog_watch(10);
		_exit((int)cu.cuInit(0) & 127);
	}
	waitpid(p, &status, 0);
	if (WIFSIGNALED(status))
		say(NONE, "cuInit in a forked child: signal %d",
		    WTERMSIG(status));
	else
		say((cu_result)WEXITSTATUS(status), "cuInit in a forked child");
}

static void init_fork_parent(void)
{
	pid_t p;

	prepare();
	p = fork();
	if (!p)
		_exit(0);
	waitpid(p, NULL, 0);
	if (failed(step(s1, mem, 5)))
		return;
	if (failed(cu.cuStreamSynchronize(s1)))
		return;
	say(0, "the parent works on: %u", word(mem));
}

static void init_fork_clean(void)
{
	int status, n = 0;
	pid_t p = fork();

	if (!p) {
		watchdog_watch(10);
		_exit((int)(cu.cuInit(0) | cu.cuDeviceGetCount(&n)) & 127);
	}
	waitpid(p, &status, 0);
	say(WIFSIGNALED(status) ? NONE : (cu_result)WEXITSTATUS(status),
	    "cuInit first in the child");
}

static void init_threads(void)
{
	int a = nr_tasks(), b, c, d;

	cu.cuInit(0);
	b = nr_tasks();
	prepare();
	c = nr_tasks();
	cu.cuLaunchHostFunc(s1, call_nothing, NULL);
	cu.cuStreamSynchronize(s1);
	d = nr_tasks();
	say(NONE,
	    "threads before cuInit %d, after %d, with a context %d, "
	    "after a host function %d",
	    a, b, c, d);
}

const struct check load_checks[] = {
	{ "load_all", load_all, 0 },
	{ "load_unknown", load_unknown, 0 },
	{ "load_too_new", load_too_new, 0 },
	{ "load_too_old", load_too_old, 0 },
	{ "load_future", load_future, 0 },
	{ "load_null", load_null, 0 },
	{ "load_suffix", load_suffix, 0 },
	{ "load_by_dlsym", load_by_dlsym, 0 },
	{ "load_stub", load_stub, OWN | NO_INIT },
	{ "load_stub_get", load_stub_get, OWN | NO_INIT },
	{ "init_before", init_before, OWN | NO_INIT },
	{ "init_alloc_before", init_alloc_before, OWN | NO_INIT },
	{ "init_flags", init_flags, OWN | NO_INIT },
	{ "init_version_before", init_version_before, OWN | NO_INIT },
	{ "init_name_before", init_name_before, OWN | NO_INIT },
	{ "init_twice", init_twice, OWN | NO_INIT },
	{ "init_no_device", init_no_device, OWN | NO_INIT },
	{ "init_bad_visible", init_bad_visible, OWN | NO_INIT },
	{ "init_after_fork", init_after_fork, OWN | NO_INIT },
	{ "init_fork_init", init_fork_init, OWN | NO_INIT },
	{ "init_fork_parent", init_fork_parent, OWN | NO_INIT },
	{ "init_fork_clean", init_fork_clean, OWN | NO_INIT },
	{ "init_threads", init_threads, OWN | NO_INIT },
	{ NULL, NULL, 0 },
};
