/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Whom the thread lkdf/ask answers: the same user where the process is
 * dumpable, root of its user namespace, nobody whom that does not map, and of
 * these none whom the kernel does not let look into the process: root of a
 * container without capabilities, or a user who has fewer than the process.
 */
#include "tests/api/ask.h"

#include <linux/capability.h>
#include <sched.h>
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

static bool set_capabilities(uint32_t set)
{
	struct __user_cap_header_struct h = { _LINUX_CAPABILITY_VERSION_3, 0 };
	const struct __user_cap_data_struct some = { set, set, set };
	struct __user_cap_data_struct v[2] = { some, { 0, 0, 0 } };

	return !syscall(SYS_capset, &h, v);
}

/* With this capability as an ambient one, if it is not 0. */
static bool become_with(uid_t uid, int capability)
{
	const uint32_t set = capability ? 1u << capability : 0;

	if (geteuid() != uid &&
	    (prctl(PR_SET_KEEPCAPS, capability != 0, 0, 0, 0) || setgid(uid) ||
	     setuid(uid)))
		return false;
	if (set &&
	    (!set_capabilities(set) ||
	     prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, capability, 0, 0)))
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
static void be_asked(int fd, const char *map, int capability)
{
	const struct lkdf_stats_header *h;
	struct lkdf *rt;
	char byte;

	if (!become_with(USER, capability) || (map && !hide_in_namespace(map)))
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
static bool start_with(struct asked *a, const char *map, int capability)
{
	int fd[2];

	must(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd));
	fflush(stdout);
	a->pid = must(fork());
	if (!a->pid) {
		close(fd[0]);
		watchdog_set(60);
		be_asked(fd[1], map, capability);
	}
	close(fd[1]);
	a->fd = fd[0];
	return read(a->fd, a->name, sizeof(a->name)) == sizeof(a->name);
}

static bool start_asked(struct asked *a, const char *map)
{
	return start_with(a, map, 0);
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

/* As a tool finds it; a wrong one where the kernel does not allow that. */
static uint64_t find_key(pid_t pid)
{
	struct lkdf_stats_header h = { .ask_key = 47 };
	char path[400], folder[64], link[64];
	struct dirent *d;
	ssize_t n;
	DIR *dir;
	int fd;

	snprintf(folder, sizeof(folder), "/proc/%d/fd", (int)pid);
	dir = opendir(folder);
	while (dir && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "%s/%s", folder, d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (strncmp(link, "/memfd:" LKDF_STATS_NAME, 17))
			continue;
		fd = open(path, O_RDONLY | O_CLOEXEC);
		if (fd >= 0 && pread(fd, &h, sizeof(h), 0) != sizeof(h))
			h.ask_key = 47;
		close(fd);
	}
	if (dir)
		closedir(dir);
	return h.ask_key;
}

/* As a child, with whatever rights it has by then. */
static void ask_and_exit(const struct asked *a)
{
	struct lkdf_answer answer = { .error = 0 };
	int given, fd, rc;

	ask_other_key = find_key(a->pid);
	fd = ask_connect(a->name);
	ask_word(fd, LKDF_ASK_WHY_TEXT);
	rc = fd < 0 ? -EIO : ask_hear(fd, &answer, &given);
	_exit(!rc ? ANSWERED : rc == -ECONNRESET ? HUNG_UP : FAILED);
}

static enum end end_of(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : FAILED;
}

static enum end ask_as(const struct asked *a, uid_t uid)
{
	pid_t pid = must(fork());

	if (!pid) {
		if (geteuid() != uid && (setgid(uid) || setuid(uid)))
			_exit(FAILED);
		ask_and_exit(a);
	}
	return end_of(pid);
}

/* Processes of its own, the network of the machine, user 0 and no rights. */
static enum end ask_from_container(const struct asked *a)
{
	pid_t pid = must(fork());
	int i;

	if (!pid) {
		if (unshare(CLONE_NEWPID))
			_exit(FAILED);
		pid = must(fork());
		if (pid)
			_exit(end_of(pid));
		for (i = 0; i <= CAP_LAST_CAP; i++)
			prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
		if (!set_capabilities(0))
			_exit(FAILED);
		ask_and_exit(a);
	}
	return end_of(pid);
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
	is(ask_as(&a, USER), ANSWERED,
	   "the user who is root of the namespace is answered");
	/* Its memory is that of the namespace in which its program began. */
	make_dumpable(&a, false);
	is(ask_as(&a, USER), HUNG_UP, "but not where it is not dumpable");
	if (!geteuid()) {
		is(ask_as(&a, OTHER), HUNG_UP, "another user is not");
		is(ask_as(&a, ROOT), HUNG_UP, "root of the outside is not");
	}
	end_asked(&a);
}

/* The class of CVE-2020-15257: an abstract socket is the network's. */
static void root_without_rights_is_not_answered(void)
{
	struct asked a;

	if (geteuid() || !start_asked(&a, NULL)) {
		skip("root of a container", "not root");
		return;
	}
	is(ask_as(&a, ROOT), ANSWERED, "root is answered");
	is(ask_from_container(&a), HUNG_UP,
	   "root of a container without capabilities is not");
	end_asked(&a);
}

static void fewer_rights_than_the_process_are_too_few(void)
{
	struct asked a;

	if (geteuid()) {
		skip("a process with a capability", "not root");
		return;
	}
	if (!start_with(&a, NULL, CAP_NET_RAW)) {
		skip("a process with a capability", "it does not start");
		end_asked(&a);
		return;
	}
	is(ask_as(&a, USER), HUNG_UP,
	   "a process with an ambient capability does not answer its user");
	is(ask_as(&a, ROOT), ANSWERED, "it answers root");
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

int main(void)
{
	tap_start(60);
	dumpable_processes_answer_their_user();
	unmapped_users_are_nobody();
	root_of_the_namespace_is_answered();
	root_without_rights_is_not_answered();
	fewer_rights_than_the_process_are_too_few();
	a_socket_of_another_is_sent_nothing();
	return tap_end();
}
