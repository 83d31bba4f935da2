/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The library's writer against the tool's reader: what was written comes
 * back, and whatever else the reader is given, it refuses with an offset.
 */
#include "tests/tap.h"
#include "tests/unit/trace_told.h"
#include "tools/trace/bytes.c"
#include "tools/trace/facts.c"
#include "tools/trace/get.c"
#include "tools/trace/kernel_facts.c"
#include "tools/trace/links.c"
#include "tools/trace/read.c"
#include "tools/utf8.c"
#include "trace/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <lkdf/lkdf.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })
#define TIMES 20

static char dir[] = "/tmp/lkdf-test-XXXXXX";

static int read_bytes(const uint8_t *bytes, size_t size, struct told *t,
		      struct trace_fault *fault)
{
	FILE *f = fmemopen((void *)(uintptr_t)bytes, size ? size : 1, "r");
	struct trace_info info;
	int rc;

	if (!f)
		return -ENOMEM;
	/* There is no stream of 0 bytes everywhere. */
	if (!size)
		fgetc(f);
	rc = read_told(f, t, &info, fault);
	trace_info_fini(&info);
	fclose(f);
	return rc;
}

static void numbers(struct trace_file *f, int nr, ...)
{
	va_list ap;

	va_start(ap, nr);
	while (nr--)
		chunk_number(f, va_arg(ap, uint64_t));
	va_end(ap);
}

#define N(x) ((uint64_t)(x))

static void write_about_chunk(struct trace_file *f)
{
	chunk_begin(f, LKDF_CHUNK_ABOUT);
	chunk_text(f, "lkdf");
	chunk_number(f, 2);
	chunk_text(f, "tasks");
	chunk_text(f, "tasks");
	chunk_text(f, "idle_ns");
	chunk_text(f, "ns");
	chunk_number(f, 1);
	chunk_text(f, "steal");
	chunk_text(f, "victim");
	chunk_text(f, "");
	chunk_end(f);
}

#include "tests/unit/trace_kernel.h"

/* bits: of a record that has all of their fields in order. */
static void link_record(struct trace_file *f, unsigned bits, int64_t by,
			int64_t ready)
{
	chunk_number(f, bits);
	if (bits & LKDF_LINK_NUMBER)
		chunk_signed(f, 5);
	if ((bits & LKDF_LINK_BY) == LKDF_BY_OTHER << 1)
		chunk_number(f, 0);
	if ((bits & LKDF_LINK_BY) >> 1 >= LKDF_BY_OWN)
		chunk_signed(f, by);
	if (bits & LKDF_LINK_READY)
		chunk_signed(f, ready);
	if (bits & LKDF_LINK_RUN) {
		chunk_number(f, 3);
		chunk_signed(f, 70);
	}
	if (bits & LKDF_LINK_BYTES)
		numbers(f, 2, N(4096), N(64));
	if (bits & LKDF_LINK_EDGE)
		numbers(f, 2, N(4), N(3));
}

static void write_links(struct trace_file *f)
{
	int i;

	chunk_begin(f, LKDF_CHUNK_LINKS);
	numbers(f, 2, N(1), N(1000));
	link_record(f, LKDF_LINK_NUMBER | LKDF_BY_OTHER << 1 | LKDF_LINK_READY,
		    9, -3);
	link_record(f, LKDF_BY_LAST << 1 | LKDF_LINK_READY, 0, 2);
	link_record(f,
		    LKDF_BY_OWN << 1 | LKDF_LINK_RUN | LKDF_LINK_BYTES |
			    LKDF_LINK_EDGE,
		    -1, 0);
	/* Of a version to come. */
	numbers(f, 3, N(128), N(1), N(2));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_SLICES);
	numbers(f, 3, N(1), N(2000), N(0));
	for (i = 0; i < 4; i++) {
		chunk_signed(f, 1);
		numbers(f, 2, N(10), N(3));
		chunk_signed(f, 1);
	}
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_LANE);
	numbers(f, 3, N(3), N(LKDF_LANE_QUEUE), N(1));
	chunk_text(f, "queue 0");
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_LINKS);
	numbers(f, 2, N(3), N(1000));
	link_record(f, LKDF_BY_OTHER << 1, 8, 0);
	link_record(f, 0, 0, 0);
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_SPANS);
	numbers(f, 2, N(3), N(3000));
	chunk_number(f, LKDF_SPAN_KERNEL);
	chunk_signed(f, -5);
	numbers(f, 2, N(50), N(4));
	chunk_signed(f, -22);
	chunk_number(f, LKDF_SPAN_LIMIT);
	chunk_signed(f, 5);
	numbers(f, 2, N(9), N(4));
	chunk_signed(f, 3);
	chunk_end(f);
}

static void write_graph(struct trace_file *f)
{
	chunk_begin(f, LKDF_CHUNK_KINDS);
	numbers(f, 5, N(3), N(LKDF_KIND_IS_IO), N(2), N(1), N(0));
	numbers(f, 5, N(4), N(0), N(0), N(8), N(3));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_GRAPH);
	chunk_number(f, 77);
	chunk_text(f, "tiles");
	numbers(f, 4, N(2), N(2), N(1), N(2));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_TASKS);
	numbers(f, 4, N(77), N(0), N(3), N(LKDF_TASK_PLACED));
	chunk_text(f, "first");
	chunk_number(f, 2);
	chunk_signed(f, 1);
	chunk_signed(f, 2);
	numbers(f, 4, N(4), N(LKDF_TASK_IN_TURN), N(0), N(0));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_EDGES);
	numbers(f, 9, N(77), N(1), N(1), N(4), N(3), N(0), N(2), N(3), N(256));
	chunk_end(f);
}

static void write_facts(struct trace_file *f)
{
	chunk_begin(f, LKDF_CHUNK_THREADS);
	numbers(f, 6, N(2), N(4243), N(900), N(1000000), N(2000000), N(7));
	chunk_text(f, "main");
	numbers(f, 2, N(30000000), N(256));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_BYTES);
	numbers(f, 5, N(1), N(900), N(5), N(1) << 33, N(64));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_FACTS);
	chunk_text(f, "cpus");
	chunk_text(f, "2");
	chunk_text(f, "option.workers");
	chunk_text(f, "1 per node");
	chunk_end(f);
	write_kernel(f);
	chunk_begin(f, LKDF_CHUNK_LOST);
	numbers(f, 4, N(1), N(900), N(9), N(0));
	chunk_end(f);
}

static void write_records(struct trace_file *f)
{
	chunk_begin(f, LKDF_CHUNK_EXECUTOR);
	numbers(f, 2, N(1), N(0));
	chunk_signed(f, 7);
	chunk_signed(f, -1);
	chunk_number(f, 4242);
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_NAMES);
	chunk_number(f, 3);
	chunk_text(f, "load");
	chunk_number(f, 4);
	chunk_text(f, "st\xff"
		      "re");
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_SLICES);
	numbers(f, 3, N(1), N(1000), N(5));
	chunk_signed(f, 10);
	numbers(f, 2, N(20), N(3));
	chunk_signed(f, 1);
	chunk_signed(f, -25);
	numbers(f, 2, N(UINT32_MAX), N(4));
	chunk_signed(f, -7);
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_EVENTS);
	numbers(f, 2, N(2), N(1000));
	chunk_signed(f, -1);
	numbers(f, 3, N(0), N(1), N(UINT64_MAX));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_CLOCK);
	numbers(f, 2, N(600), N(700));
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_COUNTERS);
	numbers(f, 4, N(0), N(600), N(12), N(1) << 40);
	chunk_end(f);
	write_links(f);
	write_graph(f);
	write_facts(f);
	/* Unknown: skipped. */
	chunk_begin(f, (enum lkdf_chunk_type)99);
	chunk_number(f, 1);
	chunk_end(f);
	chunk_begin(f, LKDF_CHUNK_END);
	numbers(f, 4, N(2), N(9), N(1), N(0));
	chunk_end(f);
}

static const char expected[] = "executor 1 0 7 -1 4242\n"
			       "slice 1 load 6 1010 1030\n"
			       "slice 1 st?re -1 1005 4294968300\n"
			       "event 2 steal 999 1 18446744073709551615\n"
			       "clock 600 700\n"
			       "sample 0 600\n"
			       "counter 0 tasks 12\n"
			       "counter 0 idle_ns 1099511627776\n"
			       "slice 1 load 1 2001 2011\n"
			       " number 6 by 0 9 ready 997 run 0 0 bytes 0 0\n"
			       "slice 1 load 2 2012 2022\n"
			       " number 7 by 0 9 ready 999 run 0 0 bytes 0 0\n"
			       "slice 1 load 3 2023 2033\n"
			       " number 8 by 1 7 ready 0 run 3 70"
			       " bytes 4096 64 edge 4 3\n"
			       "slice 1 load 4 2034 2044\n"
			       "lane 3 1 1 queue 0\n"
			       "span 3 sort 4 st?re -22 2995 3045\n"
			       " number 1 by 0 8 ready 0 run 0 0 bytes 0 0\n"
			       "span 3 sort 6 st?re 3 3050 3059\n"
			       " number 2 by -1 0 ready 0 run 0 0 bytes 0 0\n"
			       "kind load 2 prio 2 width 1 limits 0\n"
			       "kind st?re 0 prio 0 width 8 limits 3\n"
			       "graph 77 tiles 2 2 frames 1 2\n"
			       "task 77.0 load 2 \"first\" 1 2\n"
			       "task 77.1 st?re 1 \"\"\n"
			       "edge 77.1 0 st?re 3\nedge 77.0 1 load 256\n"
			       "thread 2 4243 main 900: 1000000 2000000 7"
			       " kernel 30000000 256\n"
			       "bytes 1 900 ? 5 8589934592 64\n"
			       "fact cpus=2\n"
			       "fact option.workers=1 per node\n"
			       "probe 890 sees 3 hz 250\n"
			       "kernel 1 900 state 4 777 word 7f0040 :"
			       " 1 8 64 512 4096 32768 262144 2097152 16777216"
			       " 134217728 1073741824 8589934592\n"
			       "place 7f0040 /lib/libc.so+40 c0de"
			       " +0 \"tab?le\"+64 of 4096\n"
			       "word 7f0040 900 load: 9 8589934592 20 19 5 2\n"
			       "word 7f0080 900 -: 1 2 3 3 1 0\n"
			       "stack 1 901 load word 7f0040 x 7: 100 f0\n"
			       "waker 7f0040 902 load: 4711 on 1 in -, 5\n"
			       "lost 1 900 9 0\n";

/* A file of ours as bytes; the caller frees them. */
static uint8_t *make_file(size_t *size)
{
	struct lkdf_file_header h = {
		.ticks_per_1024ns = 1024,
		.nr_executors = 2,
		.start_ticks = 500,
		.start_ns = 600,
		.pid = 1,
	};
	static struct trace_file f;
	uint8_t *bytes = malloc(65536);
	char path[64];
	FILE *in;

	snprintf(path, sizeof(path), "%s/made", dir);
	is(trace_file_open(&f, path, &h), 0, "a file is made");
	write_about_chunk(&f);
	write_records(&f);
	is(f.error, 0, "and written");
	trace_file_close(&f);
	in = fopen(path, "r");
	*size = in ? fread(bytes, 1, 65536, in) : 0;
	fclose(in);
	unlink(path);
	return bytes;
}

static void what_was_written_is_read(const uint8_t *bytes, size_t size)
{
	struct trace_fault fault;
	struct told t;

	is(read_bytes(bytes, size, &t, &fault), 0, "the file is whole");
	if (!ok(!strcmp(t.text, expected), "every record comes back"))
		printf("# %s\n", t.text);
}

static void a_cut_file_is_refused_wherever_it_is_cut(const uint8_t *bytes,
						     size_t size)
{
	size_t cut, nr_bad = 0, nr_far = 0;
	struct trace_fault fault;
	struct told t;

	for (cut = 0; cut < size; cut++) {
		nr_bad += read_bytes(bytes, cut, &t, &fault) != -EBADMSG;
		nr_far += fault.offset > cut;
		nr_bad += strncmp(t.text, expected, t.used) != 0;
	}
	is(nr_bad, 0, "all %zu cuts are found, what is before is told", size);
	is(nr_far, 0, "with an offset inside the file");
}

static void a_changed_byte_is_found(uint8_t *bytes, size_t size)
{
	struct trace_fault fault;
	size_t i, nr_bad = 0;
	struct told t;

	for (i = 0; i < size; i++) {
		bytes[i] ^= 1u << i % 8;
		nr_bad += read_bytes(bytes, size, &t, &fault) != -EBADMSG;
		bytes[i] ^= 1u << i % 8;
	}
	is(nr_bad, 0, "each of %zu flipped bits is found", size);
}

static void put_crc(uint8_t *chunk, size_t size)
{
	uint32_t crc = trace_crc32(0, chunk, 12);
	int i;

	crc = trace_crc32(crc, chunk + 16, size);
	for (i = 0; i < 4; i++)
		chunk[12 + i] = (uint8_t)(crc >> 8 * i);
}

/* Contents that lie, with a checksum that is right. */
static void contents_that_lie_do_no_harm(const uint8_t *bytes, size_t size)
{
	static const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	size_t at, i, v, payload, nr_good = 0, nr_bad = 0, nr_other = 0;
	uint8_t *copy = malloc(size);
	struct trace_fault fault;
	struct told t;
	int rc;

	for (at = 64; at < size; at += 16 + payload) {
		payload = trace_le(bytes + at + 4, 4);
		for (i = 0; i < payload * sizeof(values); i++) {
			v = i % sizeof(values);
			memcpy(copy, bytes, size);
			copy[at + 16 + i / sizeof(values)] = values[v];
			put_crc(copy + at, payload);
			rc = read_bytes(copy, size, &t, &fault);
			nr_good += rc == 0;
			nr_bad += rc == -EBADMSG && fault.offset <= size;
			nr_other += rc && rc != -EBADMSG;
		}
	}
	free(copy);
	is(nr_other, 0, "nothing but whole or damaged is said");
	ok(nr_good > 100, "many lies cannot be seen (%zu)", nr_good);
	ok(nr_bad > 100, "many can (%zu)", nr_bad);
}

static int nothing(struct lkdf_ctx *c, void *arg)
{
	(void)c;
	(void)arg;
	return 0;
}

static void run_a_chain(struct lkdf *rt)
{
	struct lkdf_event done;
	struct lkdf_graph *g;
	struct lkdf_kind *k;
	int i;

	lkdf_kind_create(
		rt, ATTR(lkdf_kind_attr, .name = "link", .fn = nothing), &k);
	lkdf_graph_create(rt, NULL, &g);
	for (i = 0; i < NR_TASKS; i++) {
		lkdf_graph_add(g, k, NULL, NULL, 0);
		if (i)
			lkdf_graph_order(g, i - 1, i);
	}
	lkdf_graph_seal(g, NULL);
	lkdf_graph_run(g, NULL, ATTR(lkdf_run, .times = TIMES), &done);
	lkdf_event_wait(done, -1);
	lkdf_graph_put(g);
	lkdf_kind_put(k);
}

/* Fewer slices than the ring has slots, so none is lost. */
static void every_body_is_recorded(const char *options)
{
	struct trace_fault fault;
	struct trace_info info;
	char path[64], text[128];
	struct lkdf *rt;
	struct told t;
	FILE *f;

	snprintf(path, sizeof(path), "%s/run", dir);
	snprintf(text, sizeof(text), "%s,trace=%s", options, path);
	is(lkdf_open(text, &rt), 0, "a runtime records with %s", options);
	run_a_chain(rt);
	is(lkdf_close(rt), 0, "and closes");
	f = fopen(path, "r");
	is(read_told(f, &t, &info, &fault), 0, "the file is whole");
	is(t.nr_slices, NR_TASKS * TIMES, "every body is there");
	is(info.slices, t.nr_slices, "the end says so too");
	is(info.slices_lost, 0, "none is lost");
	is(t.nr_events, info.events, "so it does for events");
	ok(info.name[1] && !strcmp(info.name[1], "link"),
	   "the kind's name is told");
	if (strstr(options, "serial"))
		is(t.in_order, NR_TASKS * TIMES, "in the order they ran");
	trace_info_fini(&info);
	fclose(f);
	unlink(path);
}

int main(void)
{
	uint8_t *bytes;
	size_t size;

	tap_start(120);
	unsetenv("LKDF_TRACE");
	if (!mkdtemp(dir))
		return 1;
	bytes = make_file(&size);
	what_was_written_is_read(bytes, size);
	a_cut_file_is_refused_wherever_it_is_cut(bytes, size);
	a_changed_byte_is_found(bytes, size);
	contents_that_lie_do_no_harm(bytes, size);
	free(bytes);
	every_body_is_recorded("serial=1");
	every_body_is_recorded("workers=2");
	is(rmdir(dir), 0, "no file is left");
	return tap_end();
}
