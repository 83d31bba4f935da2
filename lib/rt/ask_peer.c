/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "rt/ask_peer.h"

#include "base/err.h"
#include "base/text.h"
#include "core/runtime.h"
#include "rt/record.h"
#include "rt/topo_tell.h"
#include "rt/why.h"

#include <errno.h>
#include <fcntl.h>
#include <lkdf/format.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

/* The kernel has room for a second descriptor where we expect one at most. */
union control {
	struct cmsghdr align;
	char bytes[CMSG_SPACE(sizeof(int))];
};

/* The first one is the caller's. */
static void take_given(struct msghdr *m, int *given)
{
	struct cmsghdr *c;
	size_t at;
	int fd;

	for (c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
			continue;
		for (at = CMSG_LEN(0); at + sizeof(fd) <= c->cmsg_len;
		     at += sizeof(fd)) {
			memcpy(&fd, (char *)c + at, sizeof(fd));
			if (*given < 0)
				*given = fd;
			else
				close(fd);
		}
	}
}

/*
 * False: it is no request of ours, or the peer has not the key. The caller
 * closes what is given.
 */
static bool read_request(int fd, uint64_t key, struct lkdf_ask *ask, int *given)
{
	union control control;
	struct iovec part = { ask, sizeof(*ask) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};
	ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

	*given = -1;
	if (n < 0)
		return false;
	take_given(&m, given);
	return n == sizeof(*ask) && !(m.msg_flags & MSG_TRUNC) &&
	       ask->magic == LKDF_STATS_MAGIC &&
	       ask->version == LKDF_STATS_VERSION && ask->key == key;
}

/* With a descriptor, or -1. It is gone if there is no room for it. */
static void send_answer(int to, struct lkdf_answer *answer, int fd)
{
	union control control = { .bytes = { 0 } };
	struct iovec part = { answer, sizeof(*answer) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
	};

	answer->magic = LKDF_STATS_MAGIC;
	answer->version = LKDF_STATS_VERSION;
	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(sizeof(int));
		control.align.cmsg_level = SOL_SOCKET;
		control.align.cmsg_type = SCM_RIGHTS;
		control.align.cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	}
	sendmsg(to, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A memfd that holds the text and does not change; -errno. */
static int store_text(const struct text *t)
{
	int fd = memfd_create("lkdf:answer", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	int rc;

	if (fd < 0)
		return err(-errno, "ask: no memfd: %s", strerror(errno));
	if (write(fd, t->buf, t->used) == (ssize_t)t->used &&
	    !fcntl(fd, F_ADD_SEALS,
		   F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL))
		return fd;
	rc = err(-ENOMEM, "ask: no room for %zu bytes", t->used);
	close(fd);
	return rc;
}

static void set_error(struct lkdf_answer *a, int error)
{
	a->error = error;
	snprintf(a->text, sizeof(a->text), "%s", err_text());
}

/* A subject that the runtime tells about, in a format. */
struct told {
	uint32_t word; /* that asks for it */
	int (*fn)(struct lkdf *rt, bool is_json, struct text *t);
	bool is_json;
};

static const struct told told[] = {
	{ LKDF_ASK_WHY_TEXT, why_tell, false },
	{ LKDF_ASK_WHY_JSON, why_tell, true },
	{ LKDF_ASK_TOPO_TEXT, topo_tell, false },
	{ LKDF_ASK_TOPO_JSON, topo_tell, true },
};

static const struct told *find_told(uint32_t word)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(told); i++)
		if (told[i].word == word)
			return &told[i];
	return NULL;
}

static void answer_told(struct lkdf *rt, int to, const struct told *what)
{
	struct lkdf_answer answer = { .error = 0 };
	struct text text = { 0 };
	int fd = what->fn(rt, what->is_json, &text);

	if (!fd && text.has_failed)
		fd = err(-ENOMEM, "ask: no memory");
	if (!fd)
		fd = store_text(&text);
	free(text.buf);
	if (fd < 0)
		set_error(&answer, fd);
	send_answer(to, &answer, fd);
	if (fd >= 0)
		close(fd);
}

static bool answer_record(struct lkdf *rt, int to, int fd)
{
	struct lkdf_answer answer = { .error = 0 };
	int rc = record_start(rt, fd);

	if (rc)
		set_error(&answer, rc);
	send_answer(to, &answer, -1);
	return !rc;
}

static void answer_last(struct lkdf *rt, int to, int fd)
{
	struct lkdf_answer answer = { .error = 0 };
	struct trace_sum sum = { .slices = 0 };
	int rc = record_last(rt, fd, &sum);

	if (rc)
		set_error(&answer, rc);
	answer.slices = sum.slices;
	answer.lost = sum.lost;
	send_answer(to, &answer, -1);
}

static void refuse_peer(int to, uint32_t word)
{
	struct lkdf_answer answer = { .error = -EOPNOTSUPP };

	snprintf(answer.text, sizeof(answer.text),
		 "ask: word %u is unknown to lkdf %u.%u.%u", word,
		 LKDF_VERSION_MAJOR, LKDF_VERSION_MINOR, LKDF_VERSION_PATCH);
	send_answer(to, &answer, -1);
}

bool peer_answer(struct lkdf *rt, int fd, uint64_t key)
{
	const struct told *what;
	struct lkdf_ask ask;
	bool records = false;
	int given;

	if (!read_request(fd, key, &ask, &given)) {
		ask.word = 0;
	} else if ((what = find_told(ask.word))) {
		answer_told(rt, fd, what);
	} else if (ask.word == LKDF_ASK_RECORD) {
		records = answer_record(rt, fd, given);
		given = -1;
	} else if (ask.word == LKDF_ASK_LAST) {
		answer_last(rt, fd, given);
		given = -1;
	} else {
		refuse_peer(fd, ask.word);
	}
	if (given >= 0)
		close(given);
	return records;
}

void peer_stop(struct lkdf *rt, int fd)
{
	struct lkdf_answer answer = { .error = 0 };
	struct trace_sum sum = { .slices = 0 };
	struct lkdf_ask ask;
	int given;

	read_request(fd, 0, &ask, &given);
	if (given >= 0)
		close(given);
	record_stop(rt, &sum);
	answer.slices = sum.slices;
	answer.lost = sum.lost;
	if (sum.error)
		set_error(&answer,
			  err(sum.error, "record: the file ends early: %s",
			      strerror(-sum.error)));
	send_answer(fd, &answer, -1);
}
