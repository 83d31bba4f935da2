/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The library's writer against the tool's reader: what was written comes
 * back, and whatever else the reader is given, it refuses with an offset.
 */
#include "tests/tap.h"
#include "tools/trace_bytes.c"
#include "tools/trace_read.c"
#include "trace/file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <lkdf/lkdf.h>

#define ATTR(T, ...) (&(struct T){ .size = sizeof(struct T), __VA_ARGS__ })
#define NR_TASKS 100
#define TIMES 20

static char dir[] = "/tmp/lkdf-test-XXXXXX";

/* What a reader was told, one line each. */
struct told {
	char text[4096];
	size_t used;
	const struct trace_info *info;
	uint64_t nr_slices, nr_events;
	uint32_t
		in_order; /* slices numbered 0 .. NR_TASKS - 1, over and over */
};

__attribute__((format(printf, 2, 3))) static void tell(struct told *t,
						       const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(t->text + t->used, sizeof(t->text) - t->used, fmt, ap);
	va_end(ap);
	if (n > 0 && (size_t)n < sizeof(t->text) - t->used)
		t->used += (size_t)n;
}

static void on_slice(void *u, const struct trace_slice *s)
{
	struct told *t = u;

	t->in_order += s->task == (int64_t)(t->nr_slices % NR_TASKS);
	t->nr_slices++;
	tell(t, "slice %u %s %" PRId64 " %" PRIu64 " %" PRIu64 "\n",
	     s->executor, t->info->name[s->name], s->task, s->begin, s->end);
}

static void on_event(void *u, const struct trace_event *e)
{
	struct told *t = u;

	t->nr_events++;
	tell(t, "event %u %s %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
	     e->executor, t->info->event[e->event].name, e->ticks, e->a, e->b);
}

static void on_executor(void *u, const struct trace_executor *x)
{
	tell(u, "executor %u %u %d %d %u\n", x->executor, x->kind, x->cpu,
	     x->node, x->tid);
}

static void on_clock(void *u, uint64_t ticks, uint64_t ns)
{
	tell(u, "clock %" PRIu64 " %" PRIu64 "\n", ticks, ns);
}

static void on_counter(void *u, uint32_t executor, uint32_t i, uint64_t v)
{
	struct told *t = u;

	tell(t, "counter %u %s %" PRIu64 "\n", executor, t->info->counter[i],
	     v);
}

static int read_told(FILE *f, struct told *t, struct trace_info *info,
		     struct trace_fault *fault)
{
	const struct trace_sink sink = {
		on_slice, on_event, on_executor, on_clock, on_counter, t,
	};

	memset(t, 0, sizeof(*t));
	t->info = info;
	return trace_read(f, &sink, info, fault);
}

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
			       "counter 0 tasks 12\n"
			       "counter 0 idle_ns 1099511627776\n";

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
