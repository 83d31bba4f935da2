/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Lets each allocation fail in turn. malloc and its kin are replaced in this
 * program; calls that come from a library, such as hwloc's own, are neither
 * failed nor counted unless asked for. Sanitizers have their own malloc.
 */
#include "base/err.h"
#include "tests/fixtures/topo/tree.h"
#include "tests/tap.h"
#include "topo/topo.h"

#include <errno.h>

#ifdef __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || \
	__has_feature(memory_sanitizer)
#define HAS_OWN_MALLOC
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_OWN_MALLOC
#endif

#ifdef HAS_OWN_MALLOC
int main(void)
{
	printf("1..0 # SKIP the sanitizer replaces malloc\n");
	return 0;
}
#else

extern char __executable_start, etext;
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nr, size_t size);
void *__libc_realloc(void *p, size_t size);
void __libc_free(void *p);

#define NR_BLOCKS 4096

static int countdown; /* the allocation that fails; 0: none does */
static bool with_libraries; /* fail and count in libraries too */
static void *block[NR_BLOCKS]; /* counted blocks that live */
static int nr_live;

static bool is_ours(const void *caller)
{
	return with_libraries || ((const char *)caller >= &__executable_start &&
				  (const char *)caller < &etext);
}

static bool fails(const void *caller)
{
	if (!countdown || !is_ours(caller) || --countdown)
		return false;
	errno = ENOMEM;
	return true;
}

static void *add(void *p, const void *caller)
{
	int i;

	for (i = 0; p && is_ours(caller) && i < NR_BLOCKS; i++) {
		if (!block[i]) {
			block[i] = p;
			nr_live++;
			break;
		}
	}
	return p;
}

/* Whoever frees it: hwloc's own free may return straight to us. */
static void del(const void *p)
{
	int i;

	for (i = 0; p && i < NR_BLOCKS; i++) {
		if (block[i] == p) {
			block[i] = NULL;
			nr_live--;
			break;
		}
	}
}

void *malloc(size_t size)
{
	const void *caller = __builtin_return_address(0);

	return fails(caller) ? NULL : add(__libc_malloc(size), caller);
}

void *calloc(size_t nr, size_t size)
{
	const void *caller = __builtin_return_address(0);

	return fails(caller) ? NULL : add(__libc_calloc(nr, size), caller);
}

void *realloc(void *p, size_t size)
{
	const void *caller = __builtin_return_address(0);

	if (fails(caller))
		return NULL;
	del(p);
	return add(__libc_realloc(p, size), caller);
}

void free(void *p)
{
	del(p);
	__libc_free(p);
}

/* Returns how many failures were survived before it went well. */
static int fail_each(const struct topo_attr *a)
{
	int nth, rc = -ENOMEM, before = nr_live;
	bool is_right = true, is_freed = true;
	struct topo *t = NULL;

	for (nth = 1; rc && nth < 1000; nth++) {
		countdown = nth;
		rc = topo_open(a, &t);
		countdown = 0;
		is_right = is_right && (!rc == !!t) &&
			   (!rc ||
			    (rc == -ENOMEM && strstr(err_text(), "no memory")));
		is_freed = is_freed && (t || nr_live == before);
	}
	ok(is_right, "each failure is -ENOMEM with a message");
	ok(is_freed, "nothing is left behind");
	is(rc, 0, "without a failure it opens");
	topo_close(t);
	is(nr_live, before, "closing frees everything");
	return nth - 2;
}

static void open_survives_without_memory(void)
{
	struct topo_attr real = { .cpus = NULL };
	struct topo_attr synthetic = { .cpus = "0-2",
				       .synthetic = "numa:2 core:2 "
						    "distances:1,2,3,4" };
	int nr;

	nr = fail_each(&real);
	ok(nr >= 8, "%d places failed for this machine", nr);
	nr = fail_each(&synthetic);
	ok(nr >= 9, "%d places failed for a synthetic one", nr);
}

static void a_refusal_survives_without_memory(void)
{
	struct topo_attr a = { .cpus = "9", .synthetic = "numa:1 core:2" };
	int nth, rc = -ENOMEM, before = nr_live;
	struct topo *t = NULL;

	for (nth = 1; rc == -ENOMEM && nth < 1000; nth++) {
		countdown = nth;
		rc = topo_open(&a, &t);
		countdown = 0;
	}
	is(rc, -EINVAL, "with memory the list is refused");
	is(nr_live, before, "nothing is left behind");
}

static void the_check_survives_without_memory(const struct topo *t,
					      const char *sys_root)
{
	int nth, rc = -ENOMEM, before = nr_live;
	bool is_right = true;
	char why[128];

	for (nth = 1; rc && nth < 1000; nth++) {
		countdown = nth;
		rc = topo_check_sysfs(t, sys_root, why, sizeof(why));
		countdown = 0;
		is_right = is_right && (!rc || rc == -ENOMEM);
	}
	ok(is_right, "each failure is -ENOMEM");
	is(nr_live, before, "nothing is left behind");
	is(nth - 2, 6, "one list, one array, two files of two nodes");
}

static void describing_survives_without_memory(const struct topo *t,
					       const char *format)
{
	int nth, rc = -ENOMEM, before = nr_live;
	bool is_right = true;
	char *text = NULL;

	for (nth = 1; rc && nth < 1000; nth++) {
		countdown = nth;
		with_libraries = true;
		rc = topo_describe(t, format, NULL, 0, &text);
		with_libraries = false;
		countdown = 0;
		is_right =
			is_right && (!rc == !!text) && (!rc || rc == -ENOMEM);
	}
	ok(is_right, "%s: each failure is -ENOMEM", format);
	ok(nth - 2 > 3, "%s: %d places failed, growing too", format, nth - 2);
	ok(text && strlen(text) > 100, "%s: then it is whole", format);
	free(text);
	is(nr_live, before, "%s: nothing is left behind", format);
}

/* A worker reads it while runs are under way, which call no malloc(). */
static void the_quota_is_read_without_memory(void)
{
	char proc[PATH_MAX], group[PATH_MAX];
	struct tree t;
	int milli;

	tree_init(&t);
	tree_write(&t, "proc/self/cgroup", "3:cpuset:/\n2:cpu:/a\n0::/b\n");
	tree_write(&t, "cg/cpu/a/cpu.cfs_quota_us", "300000");
	tree_write(&t, "cg/cpu/a/cpu.cfs_period_us", "100000");
	tree_write(&t, "cg/b/cpu.max", "150000 100000");
	snprintf(proc, sizeof(proc), "%s", tree_path(&t, "proc"));
	snprintf(group, sizeof(group), "%s", tree_path(&t, "cg"));
	with_libraries = true;
	countdown = 1;
	milli = topo_read_quota_milli(proc, group);
	is(countdown, 1, "no malloc() is called, nor by libc");
	countdown = 0;
	with_libraries = false;
	is(milli, 1500, "and the least quota of both versions is read");
	tree_remove(&t);
}

int main(void)
{
	struct topo_attr a = { .synthetic = NULL };
	struct topo *t = NULL;
	char sys_root[PATH_MAX];
	struct tree tree;

	tap_start(60);
	err(0, "this thread has its record");
	open_survives_without_memory();
	a_refusal_survives_without_memory();
	the_quota_is_read_without_memory();
	tree_unpack(&tree, "two");
	snprintf(sys_root, sizeof(sys_root), "%s", tree_path(&tree, "sys"));
	setenv("HWLOC_FSROOT", tree.root, 1);
	a.asks_hwloc = true;
	is(topo_open(&a, &t), 0, "a machine of two nodes");
	unsetenv("HWLOC_FSROOT");
	the_check_survives_without_memory(t, sys_root);
	topo_close(t);
	a.synthetic = "numa:32 core:4";
	is(topo_open(&a, &t), 0, "a machine of 32 nodes");
	describing_survives_without_memory(t, "text");
	describing_survives_without_memory(t, "json");
	topo_close(t);
	tree_remove(&tree);
	return tap_end();
}
#endif
