/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The chunk KERNEL from a source that is made up: what the drain thread asks
 * it, what it tells of that, and where words lie.
 */
/* The library's and the tool's names for what a reader is told. */
#define trace_kind writer_kind
#define trace_event writer_event
#include "trace/loaded.h"
#include "trace/trace.h"
#undef trace_kind
#undef trace_event

#include "tests/tap.h"
#include "tests/unit/trace_told.h"
#include "tools/trace/bytes.c"
#include "tools/trace/facts.c"
#include "tools/trace/get.c"
#include "tools/trace/kernel_facts.c"
#include "tools/trace/links.c"
#include "tools/trace/read.c"
#include "tools/utf8.c"

#include <fcntl.h>
#include <unistd.h>

#define NR_WORDS 4

/* What the source says of executor 0, and of each place of its table. */
static struct fake {
	uint32_t sees;
	bool is_seen;
	struct probed_thread thread;
	struct probed_word word[NR_WORDS];
	struct probed_stack stack[NR_WORDS];
} fake;

static struct lkdf_stats_label *labels; /* rows of the trace's table */
static _Atomic(uint64_t) *addresses;
static uint32_t in_this_file; /* a word of a loaded file */

static uint32_t fake_sees(const void *u, uint32_t *hz)
{
	*hz = 250;
	return ((const struct fake *)u)->sees;
}

static bool fake_thread(const void *u, int executor, struct probed_thread *out)
{
	const struct fake *f = u;

	*out = f->thread;
	return executor == 0 && f->is_seen;
}

static bool fake_word(const void *u, uint32_t i, struct probed_word *out)
{
	const struct fake *f = u;

	*out = f->word[i];
	return out->id != 0;
}

static bool fake_stack(const void *u, uint32_t i, struct probed_stack *out)
{
	const struct fake *f = u;

	*out = f->stack[i];
	return out->id != 0;
}

static const struct probed_source source = {
	.u = &fake,
	.nr_words = NR_WORDS,
	.sees = fake_sees,
	.thread = fake_thread,
	.word = fake_word,
	.nr_stacks = NR_WORDS,
	.stack = fake_stack,
};

static const struct log silence = { .fn = NULL };

struct world {
	struct trace t;
	struct probed k;
	struct trace_file f;
	struct told told;
	int fd;
};

/* A file with no chunk but what is told of the kernel from here on. */
static void start(struct world *w)
{
	struct trace_attr a = {
		.nr_executors = 2,
		.nr_nodes = 1,
		.ticks_per_1024ns = 1024,
		.log = &silence,
	};
	struct lkdf_file_header h = {
		.ticks_per_1024ns = 1024,
		.nr_executors = 2,
	};

	memset(&fake, 0, sizeof(fake));
	if (trace_open(&w->t, &a))
		exit(1);
	addresses = (void *)w->t.labels;
	labels = (void *)(w->t.labels + TRACE_LABELS * sizeof(*addresses));
	trace_name(&w->t, "update");
	w->fd = memfd_create("file", MFD_CLOEXEC);
	if (trace_file_take(&w->f, dup(w->fd), &h))
		exit(1);
	chunk_begin(&w->f, LKDF_CHUNK_ABOUT);
	chunk_text(&w->f, "lkdf");
	chunk_number(&w->f, 0);
	chunk_number(&w->f, 0);
	chunk_end(&w->f);
	chunk_begin(&w->f, LKDF_CHUNK_NAMES);
	chunk_number(&w->f, 1);
	chunk_text(&w->f, "update");
	chunk_end(&w->f);
	probed_init(&w->k, &w->t);
}

/* What has been told, as lines. */
static const char *finish(struct world *w)
{
	struct trace_fault fault;
	struct trace_info info;
	FILE *in;
	int rc;

	chunk_begin(&w->f, LKDF_CHUNK_END);
	chunk_number(&w->f, 0);
	chunk_number(&w->f, 0);
	chunk_number(&w->f, 0);
	chunk_number(&w->f, 0);
	chunk_end(&w->f);
	probed_fini(&w->k);
	trace_file_close(&w->f);
	trace_close(&w->t);
	in = fdopen(w->fd, "r");
	rc = in ? read_told(in, &w->told, &info, &fault) : -1;
	is(rc, 0, "the file is whole");
	if (rc)
		printf("# %s\n", fault.why);
	trace_info_fini(&info);
	fclose(in);
	return w->told.text;
}

static void expect(const char *text, const char *want, const char *what)
{
	if (!ok(!strcmp(text, want), "%s", what))
		printf("# got:\n%s# expected:\n%s", text, want);
}

static void without_a_source_nothing_is_told(void)
{
	static struct world w;

	start(&w);
	ok(!probed_has_source(&w.k), "nobody tells of the kernel");
	probed_sample(&w.k, &w.f, 100, 2);
	expect(finish(&w), "", "and no chunk is written");
}

static void a_source_that_is_not_fed_tells_nothing(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	ok(probed_has_source(&w.k), "there is a source");
	fake.is_seen = true;
	probed_sample(&w.k, &w.f, 100, 2);
	fake.sees = 3;
	fake.thread.id = 1;
	probed_sample(&w.k, &w.f, 200, 2);
	fake.sees = 0;
	probed_sample(&w.k, &w.f, 300, 2);
	probed_sample(&w.k, &w.f, 400, 2);
	expect(finish(&w),
	       "probe 200 sees 3 hz 250\n"
	       "kernel 0 200 state 0 0 word 0 : 0 0 0 0 0 0 0 0 0 0 0 0\n"
	       "probe 300 sees 0 hz 250\n",
	       "it is told from when it is fed to when it is not");
}

static void set_counts(uint64_t id, uint64_t first)
{
	int i;

	fake.thread.id = id;
	for (i = 0; i < LKDF_PROBED_COUNTS; i++)
		fake.thread.count[i] = first + (uint64_t)i;
}

/* Once for all preemptions since the sample before, and not without one. */
static void who_got_the_cpu_is_told(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 1;
	fake.is_seen = true;
	fake.thread.id = 7;
	fake.thread.count[LKDF_PROBED_PREEMPTS] = 5;
	fake.thread.by_tid = 4711;
	snprintf(fake.thread.by, sizeof(fake.thread.by), "backup");
	probed_sample(&w.k, &w.f, 100, 2);
	fake.thread.count[LKDF_PROBED_PREEMPTS] = 9;
	probed_sample(&w.k, &w.f, 200, 2);
	probed_sample(&w.k, &w.f, 300, 2);
	expect(finish(&w),
	       "probe 100 sees 1 hz 250\n"
	       "kernel 0 100 state 0 0 word 0 : 0 0 0 0 0 0 0 0 0 0 0 0\n"
	       "preemptor 0 4711 backup\n"
	       "kernel 0 200 state 0 0 word 0 : 4 0 0 0 0 0 0 0 0 0 0 0\n"
	       "kernel 0 300 state 0 0 word 0 : 4 0 0 0 0 0 0 0 0 0 0 0\n",
	       "who got the CPU last is told when it was taken again");
}

/* The sampling thread had to take a CPU from somebody to look. */
static void who_looks_is_not_told(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 1;
	fake.is_seen = true;
	fake.thread.id = 7;
	fake.thread.count[LKDF_PROBED_PREEMPTS] = 5;
	fake.thread.by_tid = (uint32_t)gettid();
	snprintf(fake.thread.by, sizeof(fake.thread.by), "lkdf/drain");
	probed_sample(&w.k, &w.f, 100, 2);
	fake.thread.count[LKDF_PROBED_PREEMPTS] = 9;
	probed_sample(&w.k, &w.f, 200, 2);
	expect(finish(&w),
	       "probe 100 sees 1 hz 250\n"
	       "kernel 0 100 state 0 0 word 0 : 0 0 0 0 0 0 0 0 0 0 0 0\n"
	       "kernel 0 200 state 0 0 word 0 : 4 0 0 0 0 0 0 0 0 0 0 0\n",
	       "the thread that takes samples does not name itself");
}

static void counts_are_since_recording_began(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 1;
	fake.is_seen = true;
	set_counts(7, 1000);
	probed_sample(&w.k, &w.f, 100, 2);
	set_counts(7, 1003);
	fake.thread.state = LKDF_PROBED_FUTEXES;
	fake.thread.state_ns = 55;
	fake.thread.word = 0xabc;
	probed_sample(&w.k, &w.f, 200, 2);
	/* Another thread of that executor, which came later. */
	set_counts(8, 20);
	probed_sample(&w.k, &w.f, 300, 2);
	/* The probe's memory begins anew, though it should not. */
	set_counts(8, 1);
	probed_sample(&w.k, &w.f, 400, 2);
	expect(finish(&w),
	       "probe 100 sees 1 hz 250\n"
	       "kernel 0 100 state 0 0 word 0 : 0 0 0 0 0 0 0 0 0 0 0 0\n"
	       "kernel 0 200 state 4 55 word abc : 3 3 3 3 3 3 3 3 3 3 3 3\n"
	       "kernel 0 300 state 4 55 word abc :"
	       " 23 24 25 26 27 28 29 30 31 32 33 34\n"
	       "kernel 0 400 state 4 55 word abc :"
	       " 24 26 28 30 32 34 36 38 40 42 44 46\n",
	       "sums over the threads of an executor never go down");
}

static void set_word(uint32_t i, uint64_t id, uint64_t sleeps, uint64_t ns)
{
	struct probed_word *x = &fake.word[i];

	x->id = id;
	x->address = 0x1000 + i * 0x10u;
	x->kind = i % 3;
	x->count[WORD_SLEEPS] = sleeps;
	x->count[WORD_SLEPT_NS] = ns;
	x->count[WORD_SAMPLES] = 2 * sleeps;
	x->count[WORD_WAITS] = sleeps;
	x->wait_nodes = 3;
	x->wake_nodes = 2;
}

#define NOWHERE " +0  +0 \"\"+0 of 0\n"

static void words_are_told_when_they_have_grown(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 3;
	set_word(0, 11, 5, 500);
	probed_sample(&w.k, &w.f, 100, 2);
	set_word(1, 12, 1, 70);
	set_word(2, 13, 1, 80);
	probed_sample(&w.k, &w.f, 200, 2);
	probed_sample(&w.k, &w.f, 250, 2);
	set_word(0, 11, 7, 900);
	probed_sample(&w.k, &w.f, 300, 2);
	/* The place of the table is another word's. */
	set_word(1, 99, 3, 30);
	probed_sample(&w.k, &w.f, 400, 2);
	expect(finish(&w),
	       "probe 100 sees 3 hz 250\n"
	       "place 1010" NOWHERE "word 1010 200 update: 1 70 2 1 3 2\n"
	       "place 1020" NOWHERE "word 1020 200 -: 1 80 2 1 3 2\n"
	       "place 1000" NOWHERE "word 1000 300 -: 2 400 4 2 3 2\n"
	       "place 1010" NOWHERE "word 1010 400 update: 3 30 6 3 3 2\n",
	       "each with its place, a kind that the file lacks is none");
}

static void who_wakes_is_told(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 3;
	set_word(0, 11, 5, 500);
	fake.word[0].wakes = 4;
	fake.word[0].waker = -1;
	probed_sample(&w.k, &w.f, 100, 2);
	set_word(0, 11, 7, 900);
	fake.word[0].wakes = 6;
	fake.word[0].waker = 0;
	fake.word[0].waker_tid = 4711;
	fake.word[0].waker_kind = 1;
	probed_sample(&w.k, &w.f, 200, 2);
	set_word(0, 11, 8, 950);
	probed_sample(&w.k, &w.f, 300, 2);
	expect(finish(&w),
	       "probe 100 sees 3 hz 250\n"
	       "place 1000" NOWHERE "word 1000 200 -: 2 400 4 2 3 2\n"
	       "waker 1000 200 -: 4711 on 0 in update, 2\n"
	       "word 1000 300 -: 3 450 6 3 3 2\n",
	       "who has woken last, and how often since recording began");
}

/* Its second address is code, its third is data of this file. */
static void set_stack(uint64_t id, uint64_t count)
{
	fake.stack[1] = (struct probed_stack){
		.id = id,
		.sort = LKDF_STACK_WAITS,
		.kind = 1,
		.word = 0x1000,
		.count = count,
		.ip = { (uintptr_t)set_stack, (uintptr_t)set_word,
			(uintptr_t)&in_this_file, (uintptr_t)set_stack },
	};
}

static void stacks_end_where_there_is_no_code(void)
{
	static struct world w;
	const char *told, *places;
	char want[512];
	int nr = 0;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 3;
	set_stack(21, 5);
	probed_sample(&w.k, &w.f, 100, 2);
	set_stack(21, 8);
	probed_sample(&w.k, &w.f, 200, 2);
	probed_sample(&w.k, &w.f, 250, 2);
	/* The place of the table is another stack's. */
	set_stack(22, 2);
	probed_sample(&w.k, &w.f, 300, 2);
	snprintf(want, sizeof(want),
		 "stack 1 200 update word 1000 x 3: %" PRIxPTR " %" PRIxPTR
		 "\nstack 1 300 update word 1000 x 2: %" PRIxPTR " %" PRIxPTR
		 "\n",
		 (uintptr_t)set_stack, (uintptr_t)set_word,
		 (uintptr_t)set_stack, (uintptr_t)set_word);
	told = finish(&w);
	for (places = told; (places = strstr(places, "place ")); places++)
		nr++;
	is(nr, 2, "each address has its place, once");
	told = strstr(told, "stack ");
	expect(told ? told : "", want,
	       "stacks are told when there are more of them");
}

static void a_block_with_a_label_is_named(void)
{
	static struct world w;

	start(&w);
	trace_told_by(&w.t, &source);
	fake.sees = 3;
	probed_sample(&w.k, &w.f, 100, 2);
	labels[70].bytes = 0x100;
	snprintf(labels[70].text, sizeof(labels[70].text), "table");
	a_store(&addresses[70], 0xf80, relaxed);
	labels[71].bytes = 0x100;
	a_store(&addresses[71], 0xe00, relaxed);
	set_word(0, 11, 1, 1);
	probed_sample(&w.k, &w.f, 200, 2);
	expect(finish(&w),
	       "probe 100 sees 3 hz 250\n"
	       "place 1000 +0  +0 \"table\"+128 of 256\n"
	       "word 1000 200 -: 1 1 2 1 3 2\n",
	       "a word in a block has the block's label, offset and bytes");
}

static void a_word_of_a_file_is_found(void)
{
	char here[LKDF_MAX_TEXT + 1];
	ssize_t n = readlink("/proc/self/exe", here, sizeof(here) - 1);
	struct loaded l, other;
	void *heap = malloc(64);

	here[n > 0 ? n : 0] = '\0';
	loaded_find((uintptr_t)&in_this_file, &l);
	ok(!strcmp(l.file, here), "a variable lies in this program");
	loaded_find((uintptr_t)&in_this_file + 2, &other);
	is(other.offset, l.offset + 2, "at an offset that counts bytes");
	ok(l.offset < 1 << 28, "of the file, not of memory");
	loaded_find((uintptr_t)stdout, &other);
	ok(strstr(other.file, "/libc") && other.offset,
	   "the C library's in that: %s", other.file);
	ok(strlen(other.build_id) >= 16 &&
		   strspn(other.build_id, "0123456789abcdef") ==
			   strlen(other.build_id),
	   "which has a build id");
	/* A sanitizer has local variables elsewhere. */
	loaded_find((uintptr_t)__builtin_frame_address(0), &other);
	ok(!other.file[0] && !strcmp(other.mapping, "[stack]"),
	   "the stack is a mapping of that name");
	loaded_find((uintptr_t)heap + 8, &other);
	ok(!other.file[0] && other.mapping_offset, "the heap in no file");
	loaded_find(16, &other);
	ok(!other.file[0] && !other.mapping[0], "nothing is nowhere");
	free(heap);
}

int main(void)
{
	tap_start(60);
	without_a_source_nothing_is_told();
	a_source_that_is_not_fed_tells_nothing();
	who_got_the_cpu_is_told();
	who_looks_is_not_told();
	counts_are_since_recording_began();
	words_are_told_when_they_have_grown();
	who_wakes_is_told();
	stacks_end_where_there_is_no_code();
	a_block_with_a_label_is_named();
	a_word_of_a_file_is_found();
	return tap_end();
}
