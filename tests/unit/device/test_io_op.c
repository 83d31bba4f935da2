/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An operation's results, as the kernel may give them: an end of a socket that
 * is none.
 */
#include "ring/io_op.h"

#include "tests/tap.h"

#include <sys/socket.h>
#include <unistd.h>

static char byte[4];

/* False: it is told. */
static bool open_pair(int type, int *fd)
{
	return is(socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, fd), 0,
		  "type %d: a pair of sockets", type);
}

static struct io_op recv_of(int fd)
{
	struct lkdf_io io = { .size = sizeof(io),
			      .op = LKDF_IO_RECV,
			      .fd = fd,
			      .buf = byte,
			      .len = sizeof(byte) };
	struct io_op op;

	io_op_init(&op, &io);
	return op;
}

/* The kernel found nothing; then came messages and the close; then it said 0.
 */
static void messages_behind_an_end_are_found(int type, enum io_next next)
{
	struct io_op op;
	int fd[2];

	if (!open_pair(type, fd))
		return;
	op = recv_of(fd[0]);
	is(write(fd[1], "abc", 3), 3, "type %d: somebody writes", type);
	close(fd[1]);
	is(io_op_came(&op, 0), next, "type %d: is 0 the end?", type);
	is(io_op_try(&op), 3, "type %d: what was written", type);
	close(fd[0]);
}

static void an_end_is_one(int type, enum io_next next)
{
	struct io_op op;
	int fd[2];

	if (!open_pair(type, fd))
		return;
	op = recv_of(fd[0]);
	close(fd[1]);
	is(io_op_came(&op, 0), next, "type %d: closed, 0 for once", type);
	is(io_op_try(&op), 0, "type %d: it says so again", type);
	is(io_op_came(&op, 0), IO_OVER, "type %d: that is the end", type);
	is(op.result, 0, "type %d: of nothing", type);
	close(fd[0]);
}

static void nothing_is_a_message(void)
{
	struct io_op op;
	int fd[2];

	if (!open_pair(SOCK_SEQPACKET, fd))
		return;
	op = recv_of(fd[0]);
	is(send(fd[1], "", 0, 0), 0, "a message of nothing");
	is(io_op_try(&op), 0, "comes");
	is(io_op_came(&op, 0), IO_OVER, "and is not waited for again");
	close(fd[0]);
	close(fd[1]);
}

int main(void)
{
	tap_start(20);
	messages_behind_an_end_are_found(SOCK_SEQPACKET, IO_AGAIN);
	messages_behind_an_end_are_found(SOCK_STREAM, IO_OVER);
	an_end_is_one(SOCK_SEQPACKET, IO_AGAIN);
	an_end_is_one(SOCK_STREAM, IO_OVER);
	nothing_is_a_message();
	return tap_end();
}
