/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Names that all can read, of sockets and of half-written recordings, tell
 * nothing: their 64 bits are random. A recording does not go where somebody
 * else has laid something under its name.
 */
#include "tests/api/ask.h"
#include "tests/api/probe/seccomp.h"

#include <inttypes.h>
#include <sys/inotify.h>
#include <sys/wait.h>

#define OTHER 65532

/* A recording does not go where somebody else has laid something. */
static void a_recording_is_led_nowhere(const char *dir)
{
	char options[160], at[128], aim[128];
	struct lkdf *rt;

	snprintf(at, sizeof(at), "%s/t.lkdf", dir);
	snprintf(aim, sizeof(aim), "%s/aim", dir);
	snprintf(options, sizeof(options), "workers=1,trace=%s,final", at);
	must(symlink(aim, at) ? -errno : 0);
	is(lkdf_open(options, &rt), -EEXIST, "a link is not followed");
	is(access(aim, F_OK), -1, "nothing is made behind it");
	unlink(at);
	if (geteuid()) {
		skip("a file of another user", "not root");
		return;
	}
	close(must(open(at, O_CREAT | O_WRONLY | O_CLOEXEC, 0666)));
	must(chown(at, OTHER, OTHER) ? -errno : 0);
	is(lkdf_open(options, &rt), -EPERM, "nor is a file of another written");
	unlink(at);
}

/* ---- names -------------------------------------------------------------- */

/* Each bit stays the same with a chance of one in 2^63. */
#define NR_NAMES 64

struct bits {
	uint64_t all, any;
	int nr;
};

/* What stands behind a number of digits and a mark. */
static void add_bits(struct bits *b, const char *text)
{
	uint64_t value;

	if (strlen(text) < 16 || strspn(text, "0123456789abcdef") != 16 ||
	    sscanf(text, "%" SCNx64, &value) != 1)
		return;
	b->all &= value;
	b->any |= value;
	b->nr++;
}

/* The file that is first made in the folder. */
static void add_temp(struct bits *b, int inotify)
{
	union {
		struct inotify_event e;
		char bytes[4096];
	} event;
	ssize_t n = read(inotify, event.bytes, sizeof(event.bytes));

	if (n > (ssize_t)sizeof(event.e) &&
	    !strncmp(event.e.name, "t.lkdf.", 7))
		add_bits(b, event.e.name + 7);
}

static void names_are_random(const char *dir)
{
	struct bits ask = { UINT64_MAX, 0, 0 }, temp = ask;
	int inotify = must(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)), i;
	const struct lkdf_stats_header *h;
	char options[128], prefix[32];
	struct lkdf *rt;

	snprintf(prefix, sizeof(prefix), "lkdf-%x-", (unsigned)getpid());
	snprintf(options, sizeof(options), "workers=1,trace=%s/t.lkdf", dir);
	must(inotify_add_watch(inotify, dir, IN_CREATE));
	for (i = 0; i < NR_NAMES; i++) {
		rt = api_open(options);
		h = ask_header();
		if (!strncmp(h->ask, prefix, strlen(prefix)))
			add_bits(&ask, h->ask + strlen(prefix));
		munmap((void *)(uintptr_t)h, 4096);
		add_temp(&temp, inotify);
		must(lkdf_close(rt));
		snprintf(options, sizeof(options), "%s/t.lkdf", dir);
		unlink(options);
		snprintf(options, sizeof(options), "workers=1,trace=%s/t.lkdf",
			 dir);
	}
	close(inotify);
	is(ask.nr, NR_NAMES, "names of sockets have 16 digits");
	ok(!ask.all && ask.any == UINT64_MAX, "their bits are random");
	is(temp.nr, NR_NAMES, "so have names of half-written recordings");
	ok(!temp.all && temp.any == UINT64_MAX, "their bits, too");
}

static void names_are_made_in_a_folder(void)
{
	char dir[] = "/tmp/lkdf-names-XXXXXX";

	if (!mkdtemp(dir)) {
		skip("names", "no folder in /tmp");
		return;
	}
	a_recording_is_led_nowhere(dir);
	names_are_random(dir);
	rmdir(dir);
}

static void without_random_bits_nobody_answers(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = must(fork());
	if (!pid) {
		if (!seccomp_refuse(SYS_getrandom, ENOSYS))
			_exit(77);
		must(lkdf_open("workers=1", &(struct lkdf *){ NULL }));
		_exit(ask_header()->ask[0] ? 1 : 0);
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("without random bits", "no filters here");
	else
		is(status, 0, "without random bits there is no socket");
}

int main(void)
{
	tap_start(60);
	names_are_made_in_a_folder();
	without_random_bits_nobody_answers();
	return tap_end();
}
