/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Operations as tasks: writes a file, reads it back into a data, and counts
 * its lines when the bytes are there. No worker waits for the file. Prints:
 *
 *   14 bytes written
 *   14 bytes read
 *   3 lines
 */
#include <lkdf/lkdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char text[] = "one\ntwo\nthree\n";

static int tell(struct lkdf_ctx *c, void *arg)
{
	const struct lkdf_io *io = arg;
	int64_t nr = lkdf_io_result(c);

	if (nr < 0)
		return (int)nr;
	printf("%lld bytes %s\n", (long long)nr,
	       io->op == LKDF_IO_WRITE ? "written" : "read");
	return 0;
}

static int count(struct lkdf_ctx *c, void *arg)
{
	const char *at = lkdf_ptr(c, 0), *end = at + sizeof(text) - 1;
	int nr = 0;

	(void)arg;
	for (; at < end; at++)
		nr += *at == '\n';
	printf("%d lines\n", nr);
	return 0;
}

static int program(struct lkdf *rt, struct lkdf_kind *io,
		   struct lkdf_kind *lines, struct lkdf_data *file, int fd)
{
	struct lkdf_use out[] = { { file, LKDF_WRITE, 0 } };
	struct lkdf_use in[] = { { file, LKDF_READ, 0 } };
	struct lkdf_io op = { .size = sizeof(op),
			      .op = LKDF_IO_WRITE,
			      .fd = fd,
			      .len = sizeof(text) - 1,
			      .buf = text };
	struct lkdf_task t = { .size = sizeof(t), .kind = io, .arg = &op };
	struct lkdf_event written;
	int rc;

	rc = lkdf_submit(rt, NULL, &t, &written);
	op.op = LKDF_IO_READ;
	op.from = LKDF_IO_BUF_USE;
	op.buf = NULL;
	t.use = out;
	t.nr_use = t.nr_after = 1;
	t.after = &written;
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	t = (struct lkdf_task){
		.size = sizeof(t), .kind = lines, .use = in, .nr_use = 1
	};
	if (!rc)
		rc = lkdf_submit(rt, NULL, &t, NULL);
	if (!rc)
		rc = lkdf_event_wait(written, -1);
	return rc ? rc : lkdf_scope_wait(rt, NULL, -1);
}

static int run(struct lkdf *rt, int fd)
{
	struct lkdf_kind_attr a = { .size = sizeof(a), .name = "io" };
	struct lkdf_kind_attr b = { .size = sizeof(b), .name = "lines" };
	struct lkdf_data_attr d = { .size = sizeof(d),
				    .name = "file",
				    .bytes = sizeof(text) - 1 };
	struct lkdf_kind *io = NULL, *lines = NULL;
	struct lkdf_data *file = NULL;
	int rc;

	a.fn = tell;
	b.fn = count;
	rc = lkdf_kind_create_io(rt, &a, &io);
	if (!rc)
		rc = lkdf_kind_create(rt, &b, &lines);
	if (!rc)
		rc = lkdf_data_create(rt, &d, &file);
	if (!rc)
		rc = program(rt, io, lines, file, fd);
	lkdf_data_put(file);
	lkdf_kind_put(lines);
	lkdf_kind_put(io);
	return rc;
}

int main(void)
{
	char path[] = "/tmp/lkdf-io-XXXXXX";
	int fd = mkstemp(path), rc = -1;
	struct lkdf *rt;

	if (fd < 0) {
		perror(path);
		return 1;
	}
	unlink(path);
	if (lkdf_open(NULL, &rt)) {
		fprintf(stderr, "%s\n", lkdf_errmsg());
		close(fd);
		return 1;
	}
	rc = run(rt, fd);
	if (rc)
		fprintf(stderr, "%s\n", lkdf_errmsg());
	close(fd);
	return lkdf_close(rt) || rc ? 1 : 0;
}
