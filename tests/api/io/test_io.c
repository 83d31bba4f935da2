/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations on files: what is read is what was written, errors come with the
 * task that met them, and graphs and data have operations like other tasks.
 */
#include "tests/api/io.h"

#include <sys/resource.h>
#include <sys/uio.h>

#define MIB (1 << 20)

static void bytes_come_and_go(struct lkdf *rt, const char *how)
{
	static char from[3 * MIB + 5], to[4 * MIB];
	int fd = io_file("bytes", "", 0);
	struct iovec out[3] = { { from, 7 },
				{ from + 7, 0 },
				{ from + 7, sizeof(from) - 7 } };
	struct iovec in[2] = { { to, 4097 }, { to + 4097, 3 * MIB } };

	io_fill(from, sizeof(from), 1);
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			  .len = sizeof(from))),
	   sizeof(from), "%s: write says how much", how);
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
			  .len = sizeof(to))),
	   sizeof(from), "%s: read ends at the end of the file", how);
	ok(!memcmp(from, to, sizeof(from)), "%s: bytes are the same", how);
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to, .len = 10,
			  .off = sizeof(from))),
	   0, "%s: read at the end gives nothing", how);
	is(io_call(rt, IO(.op = LKDF_IO_WRITEV, .fd = fd, .buf = out, .len = 3,
			  .off = 11)),
	   sizeof(from), "%s: writev", how);
	memset(to, 0, sizeof(to));
	is(io_call(rt, IO(.op = LKDF_IO_READV, .fd = fd, .buf = in, .len = 2,
			  .off = 11)),
	   sizeof(from), "%s: readv", how);
	ok(!memcmp(from, to, sizeof(from)), "%s: pieces are the same", how);
	is(lseek(fd, 5, SEEK_SET), 5, "%s: a position is set", how);
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to, .len = 6,
			  .off = -1)),
	   6, "%s: read from the file's own position", how);
	is(lseek(fd, 0, SEEK_CUR), 11, "%s: it moves", how);
	is(io_call(rt, IO(.op = LKDF_IO_FSYNC, .fd = fd)), 0, "%s: fsync", how);
	is(io_call(rt, IO(.op = LKDF_IO_FALLOCATE, .fd = fd, .len = 5 * MIB)),
	   0, "%s: fallocate", how);
	is(lseek(fd, 0, SEEK_END), 5 * MIB, "%s: the file has grown", how);
	close(fd);
	unlink(io_path("bytes"));
}

static void names_are_operations_too(struct lkdf *rt, const char *how)
{
	char one[PATH_MAX], two[PATH_MAX];
	struct statx stx;
	struct stat file;
	int64_t fd;

	snprintf(one, sizeof(one), "%s", io_path("one"));
	snprintf(two, sizeof(two), "%s", io_path("two"));
	fd = io_call(rt,
		     IO(.op = LKDF_IO_OPENAT, .dirfd = AT_FDCWD, .path = one,
			.how = O_CREAT | O_RDWR | O_CLOEXEC, .len = 0640));
	ok(fd > 2, "%s: openat gives a descriptor", how);
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = (int)fd, .buf = "abc",
			  .len = 3)),
	   3, "%s: that can be written", how);
	memset(&stx, 0, sizeof(stx));
	is(io_call(rt, IO(.op = LKDF_IO_STATX, .dirfd = AT_FDCWD, .path = one,
			  .buf = &stx, .len = STATX_SIZE | STATX_MODE)),
	   0, "%s: statx", how);
	is(stx.stx_size, 3, "%s: it says the size", how);
	is(io_call(rt, IO(.op = LKDF_IO_RENAMEAT, .dirfd = AT_FDCWD,
			  .path = one, .fd = AT_FDCWD, .buf = two)),
	   0, "%s: renameat", how);
	ok(access(one, F_OK) && !access(two, F_OK), "%s: it has moved", how);
	is(io_call(rt,
		   IO(.op = LKDF_IO_UNLINKAT, .dirfd = AT_FDCWD, .path = two)),
	   0, "%s: unlinkat", how);
	ok(access(two, F_OK), "%s: it is gone", how);
	must(fstat((int)fd, &file));
	is(io_call(rt, IO(.op = LKDF_IO_CLOSE, .fd = (int)fd)), 0, "%s: close",
	   how);
	ok(!io_is_still((int)fd, &file), "%s: it is closed", how);
}

static void errors_are_the_tasks(struct lkdf *rt, const char *how)
{
	int fd = open("/dev/full", O_RDWR | O_CLOEXEC), file;
	char byte = 0, nowhere[PATH_MAX];

	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = 1000000, .buf = &byte,
			  .len = 1)),
	   -EBADF, "%s: fn sees EBADF", how);
	is(io_error(rt, IO(.op = LKDF_IO_READ, .fd = 1000000, .buf = &byte,
			   .len = 1)),
	   -EBADF, "%s: without fn the task fails with it", how);
	has(lkdf_errmsg(), "read, descriptor 1000000",
	    "%s: the text says which", how);
	snprintf(nowhere, sizeof(nowhere), "%s", io_path("nowhere/at/all"));
	is(io_error(rt, IO(.op = LKDF_IO_OPENAT, .dirfd = AT_FDCWD,
			   .path = nowhere)),
	   -ENOENT, "%s: ENOENT", how);
	has(lkdf_errmsg(), nowhere, "%s: the text has the path", how);
	is(io_error(rt,
		    IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = &byte, .len = 1)),
	   -ENOSPC, "%s: a full disk", how);
	close(fd);
	/* A number that nobody takes meanwhile. */
	file = io_file("closed", "abc", 3);
	must(dup3(file, 700, O_CLOEXEC));
	close(file);
	close(700);
	is(io_call(rt,
		   IO(.op = LKDF_IO_READ, .fd = 700, .buf = &byte, .len = 1)),
	   -EBADF, "%s: closed before the task starts", how);
	unlink(io_path("closed"));
	is(io_error(rt, IO(.op = LKDF_IO_TIMEOUT, .off = 1000)), 0,
	   "%s: no error, no failure", how);
}

static int cut(struct lkdf_ctx *c, void *arg)
{
	struct io_call *call = arg;

	*call->result = lkdf_io_result(c);
	return *call->result == 3 ? ftruncate(call->io.fd, 3) : -EPROTO;
}

static void a_file_is_cut_meanwhile(struct lkdf *rt, const char *how)
{
	static char to[100000];
	int64_t result = 0;
	int fd = io_file("cut", to, sizeof(to));
	struct io_call call = { .io = *IO(.op = LKDF_IO_READ, .fd = fd,
					  .buf = to, .len = 3),
				.result = &result };
	struct lkdf_kind *k = io_kind(rt, cut, sizeof(call));

	is(api_call(rt, k, &call), 0, "%s: a function may change the file",
	   how);
	lkdf_kind_put(k);
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
			  .len = sizeof(to))),
	   3, "%s: what is left is read", how);
	close(fd);
	unlink(io_path("cut"));
}

static void wrong_arguments_are_refused(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0), *other = NULL;
	struct lkdf_io io = *IO(.op = 77);
	char byte;

	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io), NULL),
	   -EOPNOTSUPP, "%s: an unknown operation", how);
	has(lkdf_errmsg(), "77", "%s: is named", how);
	io = *IO(.op = LKDF_IO_READ, .from = 1, .buf = &byte);
	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io), NULL),
	   -EINVAL, "%s: an unknown source of a field", how);
	io = *IO(.op = LKDF_IO_READ, .len = 1);
	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io), NULL),
	   -EINVAL, "%s: no buffer", how);
	io.size = 8;
	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &io), NULL),
	   -EINVAL, "%s: another size", how);
	is(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL), -EINVAL,
	   "%s: no argument", how);
	is(lkdf_kind_create_io(rt,
			       ATTR(lkdf_kind_attr, .name = "x",
				    .flags = LKDF_BLOCKING),
			       &other),
	   -EINVAL, "%s: BLOCKING", how);
	is(lkdf_kind_create_io(rt,
			       ATTR(lkdf_kind_attr, .name = "x", .arg_size = 8),
			       &other),
	   -EINVAL, "%s: an argument without an operation", how);
	lkdf_kind_put(k);
}

static int spawn_two(struct lkdf_ctx *c, void *arg)
{
	struct lkdf_kind **k = arg;
	int rc;

	must(lkdf_spawn(c, *k, IO(.op = LKDF_IO_TIMEOUT, .off = 1000)));
	must(lkdf_spawn(c, *k, IO(.op = LKDF_IO_FSYNC, .fd = -1)));
	rc = lkdf_join(c);
	return rc == -EBADF ? 0 : -EPROTO;
}

static void children_are_operations(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_kind *parent = api_kind(rt, "parent", spawn_two, 0, 0);

	is(api_call(rt, parent, &k), 0,
	   "%s: a join waits for operations and gets their error", how);
	lkdf_kind_put(parent);
	lkdf_kind_put(k);
}

struct sum {
	uint64_t value;
};

static int add_up(struct lkdf_ctx *c, void *arg)
{
	const unsigned char *bytes = lkdf_ptr(c, 0);
	struct sum *sum = *(struct sum **)arg;
	int i;

	for (i = 0; i < 8192; i++)
		sum->value += bytes[i];
	return 0;
}

static uint64_t sum_of(const char *bytes)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < 8192; i++)
		sum += (unsigned char)bytes[i];
	return sum;
}

/* Reads into a data, adds up, as tasks and as a graph. */
static void data_comes_from_a_file(struct lkdf *rt, const char *how)
{
	static char bytes[8192];
	struct sum sum = { 0 }, *at = &sum;
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	struct lkdf_kind *add = api_kind(rt, "add", add_up, sizeof(void *), 0);
	struct lkdf_graph *g = api_graph(rt, 2);
	struct lkdf_data *d = NULL;
	struct lkdf_use out, in;
	struct lkdf_io io;
	int fd, i;

	io_fill(bytes, sizeof(bytes), 3);
	fd = io_file("data", bytes, sizeof(bytes));
	must(lkdf_data_create(rt, ATTR(lkdf_data_attr, .bytes = sizeof(bytes)),
			      &d));
	out = (struct lkdf_use){ .data = d, .mode = LKDF_WRITE };
	in = (struct lkdf_use){ .data = d, .mode = LKDF_READ };
	io = *IO(.op = LKDF_IO_READ, .fd = fd, .from = LKDF_IO_BUF_USE);
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = k, .arg = &io, .use = &out,
			      .nr_use = 1),
			 NULL));
	must(lkdf_submit(rt, NULL,
			 ATTR(lkdf_task, .kind = add, .arg = &at, .use = &in,
			      .nr_use = 1),
			 NULL));
	must(lkdf_graph_add(g, k, &io, &out, 1));
	must(lkdf_graph_add(g, add, &at, &in, 1));
	must(lkdf_graph_seal(g, NULL));
	for (i = 0; i < 3; i++)
		is(api_run(g, NULL, NULL), 0, "%s: run %d of a graph", how, i);
	is(sum.value, 4 * sum_of(bytes), "%s: every reader saw all bytes", how);
	io.len = 9000;
	i = io_error(rt, &io);
	is(i, -EINVAL, "%s: BUF_USE without a use", how);
	lkdf_graph_put(g);
	lkdf_data_put(d);
	lkdf_kind_put(add);
	lkdf_kind_put(k);
	close(fd);
	unlink(io_path("data"));
}

static void a_graph_fails_with_its_operation(struct lkdf *rt, const char *how)
{
	struct lkdf_kind *k = io_kind(rt, NULL, 0);
	atomic_int ran = 0;
	struct lkdf_kind *next = api_kind(rt, "next", api_count, 0, 0);
	struct lkdf_graph *g = api_graph(rt, 1);
	int a, b;

	a = must(lkdf_graph_add(g, k, IO(.op = LKDF_IO_FSYNC, .fd = -1), NULL,
				0));
	b = must(lkdf_graph_add(g, next, &ran, NULL, 0));
	must(lkdf_graph_order(g, a, b));
	must(lkdf_graph_seal(g, NULL));
	is(api_run(g, NULL, NULL), -EBADF, "%s: a graph fails", how);
	has(lkdf_errmsg(), "fsync", "%s: the text names the operation", how);
	is(ran, 0, "%s: what depends on it does not run", how);
	lkdf_graph_put(g);
	lkdf_kind_put(next);
	lkdf_kind_put(k);
}

static void one_backend(const char *options)
{
	struct lkdf *rt = io_open(options);

	bytes_come_and_go(rt, options);
	names_are_operations_too(rt, options);
	errors_are_the_tasks(rt, options);
	a_file_is_cut_meanwhile(rt, options);
	wrong_arguments_are_refused(rt, options);
	children_are_operations(rt, options);
	data_comes_from_a_file(rt, options);
	a_graph_fails_with_its_operation(rt, options);
	/* Who has been overtaken behind the use of its data ends, too. */
	lkdf_scope_wait(rt, NULL, -1);
	is(io_close(rt), 0, "%s: it closes", options);
}

int main(void)
{
	size_t i;

	tap_start(20);
	io_begin();
	IO_EACH(i)
	one_backend(io_backends[i]);
	io_end();
	return tap_end();
}
