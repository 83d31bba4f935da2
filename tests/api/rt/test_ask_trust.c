/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Whom the thread lkdf/ask answers: the same user where the process is
 * dumpable, root of its user namespace, nobody whom that does not map. And that
 * names which all can read tell nothing: their 64 bits are random.
 */
#include "tests/api/ask.h"
#include "tests/api/probe/seccomp.h"

#include <inttypes.h>
#include <sched.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/wait.h>

/* Of the runtime, and another one; the test's own where it is not root's. */
#define USER (geteuid() ? geteuid() : 65533)
#define OTHER 65532
#define ROOT 0

/* ---- the process that is asked ------------------------------------------ */

struct asked {
	pid_t pid;
	int fd; /* it obeys what is written here; closed: it ends */
	char name[32]; /* of its socket */
};

static bool become(uid_t uid)
{
	if (geteuid() != uid && (setgid(uid) || setuid(uid)))
		return false;
	return !prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

/* Into a user namespace that maps this text alone; "": nobody. */
static bool hide_in_namespace(const char *map)
{
	int fd;
	bool good;

	if (unshare(CLONE_NEWUSER) || prctl(PR_SET_DUMPABLE, 1, 0, 0, 0))
		return false;
	if (!map[0])
		return true;
	fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
	good = fd >= 0 && write(fd, map, strlen(map)) == (ssize_t)strlen(map);
	close(fd);
	return good;
}

/* As the child: one byte makes it dumpable or not. */
static void be_asked(int fd, const char *map)
{
	const struct lkdf_stats_header *h;
	struct lkdf *rt;
	char byte;

	if (!become(USER) || (map && !hide_in_namespace(map)))
		_exit(77);
	rt = api_open("workers=1,ask=yes");
	h = ask_header();
	if (write(fd, h->ask, sizeof(h->ask)) != sizeof(h->ask))
		_exit(1);
	while (read(fd, &byte, 1) == 1) {
		prctl(PR_SET_DUMPABLE, byte == 'd', 0, 0, 0);
		if (write(fd, &byte, 1) != 1)
			_exit(2);
	}
	lkdf_close(rt);
	_exit(0);
}

/* map: as above; NULL: in our namespace. False: that is not to be had. */
static bool start_asked(struct asked *a, const char *map)
{
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	fflush(stdout);
	a->pid = must(fork());
	if (!a->pid) {
		close(fd[0]);
		watchdog_set(60);
		be_asked(fd[1], map);
	}
	close(fd[1]);
	a->fd = fd[0];
	return read(a->fd, a->name, sizeof(a->name)) == sizeof(a->name);
}

static void make_dumpable(const struct asked *a, bool is_dumpable)
{
	char byte = is_dumpable ? 'd' : 'u';

	must(write(a->fd, &byte, 1) == 1 ? 0 : -EIO);
	must(read(a->fd, &byte, 1) == 1 ? 0 : -EIO);
}

static void end_asked(const struct asked *a)
{
	close(a->fd);
	waitpid(a->pid, NULL, 0);
}

/* ---- who asks ----------------------------------------------------------- */

enum end {
	ANSWERED,
	HUNG_UP,
	FAILED
};

static enum end ask_as(const struct asked *a, uid_t uid)
{
	struct lkdf_answer answer = { .error = 0 };
	int status = -1, given, fd, rc;
	pid_t pid = must(fork());

	if (!pid) {
		if (geteuid() != uid && setuid(uid))
			_exit(FAILED);
		fd = ask_connect(a->name);
		ask_word(fd, LKDF_ASK_WHY_TEXT);
		rc = fd < 0 ? -EIO : ask_hear(fd, &answer, &given);
		_exit(!rc ? ANSWERED : rc == -ECONNRESET ? HUNG_UP : FAILED);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static void dumpable_processes_answer_their_user(void)
{
	struct asked a;

	if (!start_asked(&a, NULL)) {
		skip("a process of one user", "it does not start");
		end_asked(&a);
		return;
	}
	make_dumpable(&a, false);
	is(ask_as(&a, USER), HUNG_UP,
	   "a process that is not dumpable does not answer its user");
	if (!geteuid())
		is(ask_as(&a, ROOT), ANSWERED, "it answers root");
	make_dumpable(&a, true);
	is(ask_as(&a, USER), ANSWERED, "a dumpable one answers its user");
	if (!geteuid()) {
		is(ask_as(&a, OTHER), HUNG_UP, "and no other one");
		is(ask_as(&a, ROOT), ANSWERED, "but root");
	} else {
		skip("other users", "not root");
	}
	end_asked(&a);
}

static void unmapped_users_are_nobody(void)
{
	struct asked a;

	if (!start_asked(&a, "")) {
		skip("users who are not mapped", "no user namespaces here");
		end_asked(&a);
		return;
	}
	is(ask_as(&a, USER), HUNG_UP,
	   "where nobody is mapped a process does not answer its user");
	if (!geteuid()) {
		is(ask_as(&a, OTHER), HUNG_UP, "nor another user");
		is(ask_as(&a, ROOT), HUNG_UP, "nor root of the outside");
	}
	end_asked(&a);
}

static void root_of_the_namespace_is_answered(void)
{
	struct asked a;
	char map[64];

	snprintf(map, sizeof(map), "0 %u 1", (unsigned)USER);
	if (!start_asked(&a, map)) {
		skip("root of a user namespace", "no user namespaces here");
		end_asked(&a);
		return;
	}
	make_dumpable(&a, false);
	is(ask_as(&a, USER), ANSWERED,
	   "the user who is root of the namespace is answered");
	if (!geteuid()) {
		is(ask_as(&a, OTHER), HUNG_UP, "another user is not");
		is(ask_as(&a, ROOT), HUNG_UP, "root of the outside is not");
	}
	end_asked(&a);
}

/* ---- what is offered to a runtime ---------------------------------------- */

/* As the child: what a tool would be sent. Another user listens. */
static void listen_as(int ready, uid_t uid, const char *name)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), to;
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct lkdf_stats_hello hello;

	memcpy(at.sun_path + 1, name, strlen(name));
	if ((geteuid() != uid && setuid(uid)) ||
	    bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     strlen(name))) ||
	    listen(fd, 1) || write(ready, "r", 1) != 1)
		_exit(FAILED);
	to = accept(fd, NULL, NULL);
	_exit(recv(to, &hello, sizeof(hello), 0) > 0 ? ANSWERED : HUNG_UP);
}

static enum end offer_socket(uid_t uid)
{
	char name[48], options[96], byte;
	int fd[2], status = -1;
	struct lkdf *rt;
	pid_t pid;

	snprintf(name, sizeof(name), "lkdf-test-%d", (int)getpid());
	snprintf(options, sizeof(options), "workers=1,socket=%s", name);
	must(pipe2(fd, O_CLOEXEC));
	pid = must(fork());
	if (!pid) {
		watchdog_set(60);
		listen_as(fd[1], uid, name);
	}
	close(fd[1]);
	if (read(fd[0], &byte, 1) == 1) {
		rt = api_open(options);
		must(lkdf_close(rt));
	}
	close(fd[0]);
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static void a_socket_of_another_is_sent_nothing(void)
{
	fflush(stdout);
	is(offer_socket(geteuid()), ANSWERED,
	   "a tool of the same user is sent the counters");
	if (geteuid())
		skip("a tool of another user", "not root");
	else
		is(offer_socket(OTHER), HUNG_UP, "one of another user is not");
}

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
	dumpable_processes_answer_their_user();
	unmapped_users_are_nobody();
	root_of_the_namespace_is_answered();
	a_socket_of_another_is_sent_nothing();
	names_are_made_in_a_folder();
	without_random_bits_nobody_answers();
	return tap_end();
}
