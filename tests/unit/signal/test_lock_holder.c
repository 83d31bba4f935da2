/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf_why() and lkdf top say who holds a lock of the library's own kind that a
 * worker sleeps in. The probe sees the sleep. Internal: no call lets a program
 * hold such a lock for as long as somebody looks.
 */
#include "base/lock.h"
#include "tests/api/probe.h"
#include "tests/api/why.h"

static struct lock lock;
static atomic_int holder, may_go;

static int hold(struct lkdf_ctx *c, void *arg)
{
	(void)arg;
	lock_take(&lock);
	atomic_store(&holder, lkdf_worker(c) + 1);
	while (!atomic_load(&may_go))
		api_nap_ns(SECOND / 1000);
	lock_give(&lock);
	return 0;
}

static int want(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	lock_take(&lock);
	lock_give(&lock);
	return 0;
}

static void submit(struct lkdf *rt, struct lkdf_kind *k)
{
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
}

/* What the tool prints with these words. */
static const char *top_says(const char *words)
{
	static char text[1 << 16];
	char line[2 * PATH_MAX];
	size_t nr = 0;
	FILE *f;

	snprintf(line, sizeof(line),
		 "LKDF_PROBE='%s/bpf' '%s' top -b -n 1 -I 20 -p %d %s 2>&1",
		 probe_dir, probe_tool, getpid(), words);
	f = popen(line, "r");
	if (f) {
		nr = fread(text, 1, sizeof(text) - 1, f);
		pclose(f);
	}
	text[nr] = 0;
	return text;
}

/* The watchdog ends a test in which it never says so. */
static void top_until(const char *words, const char *part)
{
	const char *text = top_says(words);
	int i;

	for (i = 0; i < 100 && !strstr(text, part); i++)
		text = top_says(words);
	has(text, part, "top %s: %s", words, part);
}

static void tests(void)
{
	char options[128], who[64];
	struct lkdf_kind *h, *w;
	struct lkdf *rt;

	snprintf(options, sizeof(options), "workers=2,probe=%s/bpf,final",
		 probe_dir);
	rt = api_open(options);
	h = api_kind(rt, "holds", hold, 0, 0);
	w = api_kind(rt, "wants", want, 0, 0);
	submit(rt, h);
	while (!atomic_load(&holder))
		api_nap_ns(SECOND / 1000);
	submit(rt, w);
	snprintf(who, sizeof(who),
		 " us at futex word %p, which worker %d holds", (void *)&lock,
		 atomic_load(&holder) - 1);
	why_until(rt, who);
	snprintf(who, sizeof(who), "futex word %p, which worker %d holds",
		 (void *)&lock, atomic_load(&holder) - 1);
	top_until("-w workers", who);
	snprintf(who, sizeof(who), "\"holder\": %d", atomic_load(&holder) - 1);
	top_until("--json", who);
	atomic_store(&may_go, 1);
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(h);
	lkdf_kind_put(w);
	must(lkdf_close(rt));
}

int main(int argc, char **argv)
{
	(void)argc;
	tap_start(60);
	if (probe_start(argv[0], "--slots 64"))
		tests();
	else
		probe_absent("the holder of a lock");
	probe_end();
	return tap_end();
}
