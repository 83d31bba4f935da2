/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* What a tool does at the socket of a runtime, in the runtime's own process. */
#ifndef TESTS_API_ASK_H
#define TESTS_API_ASK_H

#include "tests/api/why.h"

#include <lkdf/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

/* The header of the only runtime of this process; NULL: it has no memfd. */
__attribute__((unused)) static const struct lkdf_stats_header *ask_header(void)
{
	const struct lkdf_stats_header *h = NULL;
	DIR *dir = opendir("/proc/self/fd");
	char path[300], link[64];
	struct dirent *d;
	void *base;
	ssize_t n;
	int fd;

	while (dir && !h && (d = readdir(dir))) {
		snprintf(path, sizeof(path), "/proc/self/fd/%s", d->d_name);
		n = readlink(path, link, sizeof(link) - 1);
		link[n > 0 ? n : 0] = 0;
		if (strncmp(link, "/memfd:" LKDF_STATS_NAME, 17))
			continue;
		fd = must(open(path, O_RDONLY | O_CLOEXEC));
		base = mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0);
		close(fd);
		h = base == MAP_FAILED ? NULL : base;
	}
	if (dir)
		closedir(dir);
	return h;
}

/* The key of a runtime of another process; 0: it is in this one. */
static uint64_t ask_other_key;

/* The last one stays known where there is no descriptor to look again. */
__attribute__((unused)) static uint64_t ask_key(void)
{
	static uint64_t key;
	const struct lkdf_stats_header *h;

	if (ask_other_key)
		return ask_other_key;
	h = ask_header();
	if (h) {
		key = h->ask_key;
		munmap((void *)(uintptr_t)h, 4096);
	}
	return key;
}

/* A connection, or -errno. */
__attribute__((unused)) static int ask_connect(const char *name)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	socklen_t size = offsetof(struct sockaddr_un, sun_path) + 1;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	int rc;

	memcpy(to.sun_path + 1, name, strlen(name));
	size += (socklen_t)strlen(name);
	if (fd < 0 || !connect(fd, (struct sockaddr *)&to, size))
		return fd < 0 ? -errno : fd;
	rc = -errno;
	close(fd);
	return rc;
}

/* Some bytes and so many copies of a descriptor. False: nobody takes them. */
__attribute__((unused)) static bool ask_put(int to, const void *bytes,
					    size_t size, int fd, int copies)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(64 * sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { (void *)(uintptr_t)bytes, size };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1 };
	struct cmsghdr *h;
	int i;

	if (copies) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE((size_t)copies * sizeof(int));
		h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN((size_t)copies * sizeof(int));
		for (i = 0; i < copies; i++)
			memcpy((char *)CMSG_DATA(h) + (size_t)i * sizeof(int),
			       &fd, sizeof(fd));
	}
	return sendmsg(to, &m, MSG_NOSIGNAL) == (ssize_t)size;
}

__attribute__((unused)) static bool ask_word(int to, uint32_t word)
{
	const struct lkdf_ask ask = {
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
		.word = word,
		.key = ask_key(),
	};

	return ask_put(to, &ask, sizeof(ask), -1, 0);
}

/*
 * The answer's error; -ECONNRESET: hung up. *given is the descriptor that came
 * along, or -1. It waits: the watchdog ends a test that nobody answers.
 */
__attribute__((unused)) static int ask_hear(int from, struct lkdf_answer *a,
					    int *given)
{
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { a, sizeof(*a) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	*given = -1;
	if (n <= 0)
		return -ECONNRESET;
	if (h)
		memcpy(given, CMSG_DATA(h), sizeof(*given));
	return n == sizeof(*a) ? a->error : -EBADMSG;
}

/* What lkdf_why() says, by the socket; "": no answer. */
__attribute__((unused)) static const char *ask_why(const char *name)
{
	static char text[WHY_SIZE];
	struct lkdf_answer a;
	int fd = ask_connect(name), given = -1;
	ssize_t n = 0;

	if (fd >= 0 && ask_word(fd, LKDF_ASK_WHY_TEXT) &&
	    !ask_hear(fd, &a, &given))
		n = pread(given, text, sizeof(text) - 1, 0);
	text[n > 0 ? n : 0] = 0;
	if (given >= 0)
		close(given);
	if (fd >= 0)
		close(fd);
	return text;
}

#endif
