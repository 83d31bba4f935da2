/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is known of a descriptor may be wrong a moment later: it is another
 * file's. Reads then still tell what that file holds, and where they wait, the
 * only worker does not.
 */
#include "tests/api/io.h"

#include <sys/mman.h>

#define NR_READS 20

static int do_nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

/* A file in memory or on a disk that holds so many times this letter. */
static int file_of(bool in_memory, const char *name, char letter)
{
	char bytes[4096];
	int fd;

	memset(bytes, letter, sizeof(bytes));
	if (!in_memory)
		return io_file(name, bytes, sizeof(bytes));
	fd = memfd_create(name, MFD_CLOEXEC);
	if (write(fd, bytes, sizeof(bytes)) != sizeof(bytes))
		printf("# memfd: %s\n", strerror(errno));
	return fd;
}

/* Reads from it until it is known: true if all bring this letter. */
static bool read_some(struct lkdf *rt, int fd, char letter)
{
	char bytes[4096];
	bool is_good = true;
	int i;

	for (i = 0; i < NR_READS; i++) {
		bytes[0] = 0;
		is_good &=
			io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd,
				       .buf = bytes, .len = sizeof(bytes))) ==
				sizeof(bytes) &&
			bytes[0] == letter;
	}
	return is_good;
}

static void becomes_another(const char *options, bool in_memory)
{
	struct lkdf *rt = api_open(options);
	int one = file_of(in_memory, "one", 'a');
	int other = file_of(!in_memory, "other", 'b');
	int fd = dup(one);

	ok(read_some(rt, fd, 'a'), "a file, in memory: %d", in_memory);
	dup2(other, fd);
	ok(read_some(rt, fd, 'b'), "the other file of that number");
	dup2(one, fd);
	ok(read_some(rt, fd, 'a'), "and back");
	close(fd);
	close(one);
	close(other);
	is(lkdf_close(rt), 0, "%s: close", options);
}

static void becomes_a_pipe(const char *options, bool in_memory)
{
	struct lkdf *rt = api_open(options);
	struct lkdf_kind *quick = api_kind(rt, "quick", do_nothing, 0, 0);
	struct lkdf_kind *k = io_kind(rt, io_note, sizeof(struct io_call));
	int one = file_of(in_memory, "one", 'a'), fd = dup(one), end[2];
	struct lkdf_task t = { .size = sizeof(t), .kind = k };
	struct lkdf_event done;
	struct io_call call;
	int64_t result = 0;
	char byte = 0;

	ok(read_some(rt, fd, 'a'), "a file, in memory: %d", in_memory);
	if (pipe(end))
		exit(1);
	dup2(end[0], fd);
	call.io = *IO(.op = LKDF_IO_READ, .fd = fd, .buf = &byte, .len = 1);
	call.result = &result;
	t.arg = &call;
	must(lkdf_submit(rt, NULL, &t, &done));
	/* Ends only if the worker is free. */
	ok(!api_call(rt, quick, NULL), "a pipe of that number: nobody waits");
	ok(write(end[1], "x", 1) == 1, "a byte");
	ok(!lkdf_event_wait(done, -1) && result == 1 && byte == 'x',
	   "the read brings it");
	lkdf_kind_put(k);
	lkdf_kind_put(quick);
	close(fd);
	close(one);
	close(end[0]);
	close(end[1]);
	is(lkdf_close(rt), 0, "%s: close", options);
}

int main(void)
{
	static const char *const options[] = { "workers=1",
					       "workers=1,io=threads" };
	unsigned i;
	int in_memory;

	tap_start(60);
	io_begin();
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		for (in_memory = 0; in_memory < 2; in_memory++) {
			becomes_another(options[i], in_memory);
			becomes_a_pipe(options[i], in_memory);
		}
	}
	unlink(io_path("one"));
	unlink(io_path("other"));
	io_end();
	return tap_end();
}
