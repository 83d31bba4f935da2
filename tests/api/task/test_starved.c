/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Processes that may not do all they would like to: the runtime does without,
 * and says what it lacks.
 */
#include "tests/api/heard.h"
#include "tests/api/pages.h"

#include <fcntl.h>
#include <sys/resource.h>

/* The line of the capabilities that begins with name. */
static const char *caps_line(struct lkdf *rt, const char *name)
{
	static char text[4096];
	char *at = text;
	ssize_t n;
	int fd[2];

	must(pipe2(fd, O_NONBLOCK | O_CLOEXEC));
	must(lkdf_describe(rt, "caps", "text", fd[1]));
	n = read(fd[0], text, sizeof(text) - 1);
	close(fd[0]);
	close(fd[1]);
	text[n > 0 ? n : 0] = '\0';
	while (*at && strncmp(at, name, strlen(name)))
		at += strcspn(at, "\n") + 1;
	at[strcspn(at, "\n")] = '\0';
	return at;
}

static void limit_files(rlim_t size)
{
	struct rlimit l = { size, RLIM_INFINITY };

	must(setrlimit(RLIMIT_FSIZE, &l));
}

static void the_limit_of_file_sizes_is_survived(void)
{
	struct lkdf *rt;

	limit_files(1 << 20);
	rt = api_open("workers=2");
	ok(!(lkdf_caps(rt) & LKDF_CAP_TRACE), "there is no memfd");
	has(caps_line(rt, "trace"), "EFBIG: the limit of file sizes",
	    "the capabilities say why");
	is(api_call(rt, api_kind(rt, "nothing", api_nothing, 0, 0), NULL), 0,
	   "a task runs");
	is(stat_of(rt, "lkdf.tasks"), 1, "and is counted");
	is(lkdf_close(rt), 0, "the runtime closes");
}

static void a_recording_ends_at_the_limit(void)
{
	char path[64], options[96];
	struct lkdf *rt;
	int rc;

	snprintf(path, sizeof(path), "/tmp/lkdf-starved-%d.lkdf", getpid());
	snprintf(options, sizeof(options), "workers=1,trace=%s", path);
	limit_files(16);
	rc = lkdf_open(options, &rt);
	/* What we say may go to a file, too. */
	limit_files(RLIM_INFINITY);
	is(rc, -EFBIG, "a recording without room for its header is refused");
	/* Where another process had the name first, ours has a number. */
	has(lkdf_errmsg(), "/tmp/lkdf-starved", "the file is named");
	ok(access(path, F_OK), "and not there");
}

int main(void)
{
	tap_start(60);
	pages_in_child(the_limit_of_file_sizes_is_survived);
	pages_in_child(a_recording_ends_at_the_limit);
	return tap_end();
}
