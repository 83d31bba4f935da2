/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Kernels that refuse mbind(2) or move_pages(2), as containers do by a seccomp
 * filter: the runtime opens, gives memory, says what is missing and why. What
 * it says of several nodes is seen where there are some, see tests/vm.
 */
#include "tests/api/heard.h"
#include "tests/api/pages.h"

/* From here on the call fails with error in this process. */
static void refuse(long call, int error)
{
	int rc = forbid_call((unsigned)call, (unsigned)error);

	if (rc) {
		ok(false, "a filter can be set: %s", strerror(-rc));
		_exit(201);
	}
}

/* Without the line of the log that comes before open returns being lost. */
static struct lkdf *open_listening(const char *options)
{
	struct lkdf *rt;

	said.nr = 0;
	must(lkdf_open_with(
		ATTR(lkdf_open_attr, .options = options, .log = listen), &rt));
	return rt;
}

static bool has_said(const char *part)
{
	bool found = false;
	int i;

	for (i = 0; i < said.nr; i++)
		found |= strstr(said.text[i], part) != NULL;
	return found;
}

/* The line "bind ..." of the runtime's capabilities. */
static const char *bind_line(struct lkdf *rt)
{
	static char text[4096];
	int fd[2];
	ssize_t n;
	char *at;

	if (pipe(fd))
		return "";
	must(lkdf_describe(rt, "caps", "text", fd[1]));
	close(fd[1]);
	n = read(fd[0], text, sizeof(text) - 1);
	close(fd[0]);
	text[n > 0 ? n : 0] = '\0';
	at = strstr(text, "\nbind ");
	if (!at)
		return "";
	at[1 + strcspn(at + 1, "\n")] = '\0';
	return at + 1;
}

/* Blocks of all sorts can be had of each node with memory, and written. */
static void memory_is_given(struct lkdf *rt)
{
	static const uint64_t bytes[] = { 64, 40000, 8 << 20 };
	struct lkdf_place *v[64];
	int nr = must(lkdf_places(rt, LKDF_PLACE_NODE, v, 64)), i, given = 0;
	int bad = 0, rc;
	unsigned j;
	char *p;

	for (i = 0; i < nr && i < 64; i++) {
		for (j = 0; j < 3; j++) {
			rc = lkdf_alloc(v[i], LKDF_MEM_OWN, bytes[j], 0, NULL,
					(void **)&p);
			if (rc) {
				bad += !strstr(lkdf_errmsg(), "has no memory");
				continue;
			}
			memset(p, 7, bytes[j]);
			given++;
			lkdf_free(rt, p);
		}
	}
	ok(given >= 3, "%d blocks are given, of %d nodes", given, nr);
	is(bad, 0, "none is refused where there is memory");
}

static void opens_without_mbind(int error)
{
	struct lkdf *rt;
	bool is_several;

	refuse(SYS_mbind, error);
	rt = open_listening("workers=2");
	is_several = lkdf_places(rt, LKDF_PLACE_NODE, NULL, 0) > 1;
	ok(!(lkdf_caps(rt) & LKDF_CAP_BIND),
	   "without mbind memory is not bound");
	has(bind_line(rt), "no ", "its capabilities say so");
	has(bind_line(rt),
	    is_several ? "mbind is refused" : "there is one node only",
	    "and why");
	is(has_said("mbind: "), is_several,
	   "the log has it where there are several nodes");
	memory_is_given(rt);
	is(api_call(rt, api_kind(rt, "nothing", api_nothing, 0, 0), NULL), 0,
	   "a task runs");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void eperm_of_mbind_is_told(void)
{
	opens_without_mbind(EPERM);
}

static void enosys_of_mbind_is_told(void)
{
	opens_without_mbind(ENOSYS);
}

/* Nobody can tell where a page is: strict memory is then a wish. */
static void opens_without_move_pages(int error)
{
	struct lkdf *rt, *strict;
	struct lkdf_place *p;
	char *block;

	refuse(SYS_move_pages, error);
	rt = open_listening("workers=2");
	memory_is_given(rt);
	must(lkdf_places(rt, LKDF_PLACE_NODE, &p, 1));
	must(lkdf_alloc(p, LKDF_MEM_OWN, 8 << 20, 0, NULL, (void **)&block));
	memset(block, 1, 8 << 20);
	is(pages_count(rt, 0, block, 8 << 20), 8 << 20,
	   "other sources tell where a block's pages are");
	lkdf_free(rt, block);
	is(lkdf_close(rt), 0, "the runtime closes");
	strict = open_listening("workers=1,memory_strict=yes");
	must(lkdf_places(strict, LKDF_PLACE_NODE, &p, 1));
	is(lkdf_alloc(p, LKDF_MEM_OWN, 8 << 20, 0, NULL, (void **)&block), 0,
	   "strict memory is given, too");
	lkdf_free(strict, block);
	is(lkdf_close(strict), 0, "and it closes");
}

static void eperm_of_move_pages_is_survived(void)
{
	opens_without_move_pages(EPERM);
}

static void enosys_of_move_pages_is_survived(void)
{
	opens_without_move_pages(ENOSYS);
}

/* What strict asks for cannot be had: not another node, but a reason. */
static void strict_memory_without_mbind_says_why(void)
{
	struct lkdf_place *v[64];
	int nr, i, rc, refused = 0;
	struct lkdf *rt;
	void *block;

	refuse(SYS_mbind, EPERM);
	rt = open_listening("workers=1,memory_strict=yes");
	nr = must(lkdf_places(rt, LKDF_PLACE_NODE, v, 64));
	for (i = 0; i < nr && i < 64; i++) {
		rc = lkdf_alloc(v[i], LKDF_MEM_OWN, 8 << 20, 0, NULL, &block);
		if (!rc) {
			lkdf_free(rt, block);
			continue;
		}
		if (strstr(lkdf_errmsg(), "has no memory"))
			continue;
		refused++;
		is(rc, -ENOMEM, "strict: node %d refuses", lkdf_place_id(v[i]));
		has(lkdf_errmsg(), "mbind", "because nothing can be bound: %s",
		    lkdf_errmsg());
	}
	ok(nr == 1 || refused, "strict: %d of %d nodes refuse", refused, nr);
	is(lkdf_close(rt), 0, "the runtime closes");
}

int main(void)
{
	tap_start(60);
	pages_in_child(eperm_of_mbind_is_told);
	pages_in_child(enosys_of_mbind_is_told);
	pages_in_child(eperm_of_move_pages_is_survived);
	pages_in_child(enosys_of_move_pages_is_survived);
	pages_in_child(strict_memory_without_mbind_says_why);
	return tap_end();
}
