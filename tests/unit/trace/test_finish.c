/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The tool ends a recording that its program could not end, wherever it was
 * cut, also where the disk has no room for one more byte: what is before is
 * whole.
 */
#include "tests/tap.h"
#include "tools/trace/bytes.c"
#include "tools/trace/facts.c"
#include "tools/trace/finish.c"
#include "tools/trace/get.c"
#include "tools/trace/kernel_facts.c"
#include "tools/trace/links.c"
#include "tools/trace/read.c"
#include "tools/utf8.c"
#include "trace/file.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define NR_CHUNKS 8
#define SLICES 3 /* of a chunk */
#define BEGUN 30 /* some were lost as well */

static char dir[] = "/tmp/lkdf-test-XXXXXX";
static char path[64];
static uint8_t bytes[4096];
static size_t nr_bytes, first_end; /* of the file, of its first chunk */

static void numbers(struct trace_file *f, unsigned nr, const uint64_t *v)
{
	while (nr--)
		chunk_number(f, *v++);
}

static void write_slices(struct trace_file *f, int nr)
{
	static const uint64_t head[] = { 1, 1000, 0 }, rest[] = { 20, 3 };
	int i;

	chunk_begin(f, LKDF_CHUNK_SLICES);
	numbers(f, 3, head);
	for (i = 0; i < nr; i++) {
		chunk_signed(f, 10);
		numbers(f, 2, rest);
		chunk_signed(f, 1);
	}
	chunk_end(f);
}

static void write_about(struct trace_file *f)
{
	static const uint64_t nothing[] = { 0, 0 };

	chunk_begin(f, LKDF_CHUNK_ABOUT);
	chunk_text(f, "lkdf");
	numbers(f, 2, nothing);
	chunk_end(f);
}

static void write_name(struct trace_file *f)
{
	chunk_begin(f, LKDF_CHUNK_NAMES);
	chunk_number(f, 3);
	chunk_text(f, "load");
	chunk_end(f);
}

/* A recording without an end. */
static void make_file(void)
{
	struct lkdf_file_header h = { .ticks_per_1024ns = 1024,
				      .nr_executors = 2,
				      .pid = 1 };
	static struct trace_file f;
	FILE *in;
	int i;

	is(trace_file_open(&f, path, &h), 0, "a file is made");
	write_about(&f);
	first_end = (size_t)f.size;
	write_name(&f);
	for (i = 0; i < NR_CHUNKS; i++)
		write_slices(&f, SLICES);
	is(f.error, 0, "and written");
	trace_file_close(&f);
	in = fopen(path, "r");
	nr_bytes = in ? fread(bytes, 1, sizeof(bytes), in) : 0;
	fclose(in);
}

static void write_cut(size_t size)
{
	FILE *f = fopen(path, "w");

	if (!f || fwrite(bytes, 1, size, f) != size || fclose(f))
		exit(1);
}

/* Of the file as it is: its slices, and those that are told as lost. */
static int read_file(uint64_t *slices, uint64_t *lost)
{
	struct counts c = { .slices = 0 };
	const struct trace_sink sink = { .slice = on_slice, .u = &c };
	FILE *f = fopen(path, "r");
	struct trace_fault fault;
	struct trace_info info;
	int rc = f ? trace_read(f, &sink, &info, &fault) : -errno;

	if (!f)
		return rc;
	*slices = c.slices;
	*lost = info.slices_lost;
	trace_info_fini(&info);
	fclose(f);
	return rc;
}

/* Files get no longer than that; 0: as long as they like. */
static void limit_files(size_t size)
{
	struct rlimit l;

	getrlimit(RLIMIT_FSIZE, &l);
	l.rlim_cur = size ? size : l.rlim_max;
	setrlimit(RLIMIT_FSIZE, &l);
}

/* False: no end, or another count than was begun. */
static bool finishes(size_t cut, size_t room)
{
	uint64_t slices = 0, lost = 0;
	int rc;

	write_cut(cut);
	limit_files(room ? cut + room - 1 : 0);
	rc = trace_finish(path, BEGUN);
	limit_files(0);
	return rc == 1 && !read_file(&slices, &lost) &&
	       slices + lost == BEGUN && slices % SLICES == 0;
}

static void every_cut_is_ended(void)
{
	size_t cut, nr_bad = 0;

	for (cut = first_end; cut <= nr_bytes; cut++)
		nr_bad += !finishes(cut, 0);
	is(nr_bad, 0, "%zu cuts: each is ended", nr_bytes - first_end + 1);
}

/*
 * room: bytes, and one; an end takes some twenty, as the last chunks do. Each
 * cut takes a quarter of the rooms, and four cuts that follow each other all:
 * a sanitizer needs 8 ms for each pair.
 */
static void so_it_is_on_a_full_disk(void)
{
	size_t cut, room, nr_bad = 0, nr = 0;

	/* Before that nothing may go for the sake of the end. */
	for (cut = first_end + 32; cut <= nr_bytes; cut++)
		for (room = 1 + cut % 4; room <= 32; room += 4, nr++)
			nr_bad += !finishes(cut, room);
	is(nr_bad, 0, "%zu cuts with 0 to 31 bytes of room: each is ended", nr);
}

static void the_first_chunk_stays(void)
{
	uint64_t slices, lost;
	int rc;

	write_cut(first_end);
	limit_files(first_end);
	rc = trace_finish(path, BEGUN);
	/* Our own words may go to a file. */
	limit_files(0);
	is(rc, -EFBIG, "one chunk and no room: no end");
	is(read_file(&slices, &lost), -EBADMSG, "the file is cut");
	is(trace_finish(path, BEGUN), 1, "and is ended once there is room");
	is(read_file(&slices, &lost), 0, "so it is whole");
	is(trace_finish(path, BEGUN), 0, "which it was already");
}

int main(void)
{
	tap_start(60);
	if (!mkdtemp(dir))
		return 1;
	snprintf(path, sizeof(path), "%s/made", dir);
	signal(SIGXFSZ, SIG_IGN);
	make_file();
	every_cut_is_ended();
	so_it_is_on_a_full_disk();
	the_first_chunk_stays();
	unlink(path);
	rmdir(dir);
	return tap_end();
}
