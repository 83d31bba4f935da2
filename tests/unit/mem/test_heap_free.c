/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Pointers that must not be freed: each is refused with the right error, the
 * heap is as it was, and the block's label is still there to report it by.
 * What was never freed is found at the end, by label.
 */
#include "tests/unit/heap.h"

static const size_t sizes[] = { 16,    64,     100,	4096,
				40000, 100000, 2 * MIB, 3 * MIB };

static void twice_is_refused(bool has_cache)
{
	struct heap *h = plain_heap();
	struct cache *c = has_cache ? heap_cache_create(h, 0) : NULL;
	const char *with = has_cache ? "with a cache" : "without";
	size_t i;
	void *p;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		p = take(h, c, 1, sizes[i]);
		is(heap_free(h, c, p), 0, "%zu, %s: freed", sizes[i], with);
		is(heap_free(h, c, p), -EALREADY, "%zu, %s: not twice",
		   sizes[i], with);
		is(heap_size(h, p), 0, "%zu, %s: has no size", sizes[i], with);
	}
	heap_cache_destroy(c);
	heap_destroy(h);
}

/* After the block went down to its span, and the span to its segment. */
static void twice_after_trim(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	void *stays = take(h, c, 0, 64), *p = take(h, c, 0, 64);
	void *large = take(h, c, 0, 3 * MIB), *alone = take(h, c, 0, 100000);

	heap_free(h, c, p);
	heap_free(h, c, large);
	heap_free(h, c, alone);
	cache_flush(c);
	heap_trim(h, true);
	is(heap_free(h, c, p), -EALREADY, "a block back in its span");
	is(heap_free(h, c, large), -EINVAL, "a large one that was unmapped");
	is(heap_free(h, c, alone), -EINVAL, "a span that was given back");
	is(heap_free(h, c, stays), 0, "its neighbour can be freed");
	heap_cache_destroy(c);
	heap_destroy(h);
}

/* Pages change their class; an old pointer lies between new blocks. */
static void twice_after_other_class(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	char *old[40], *p, *q;
	int i, nr = 0, rc;

	for (i = 0; i < 40; i++)
		old[i] = take(h, c, 0, 1024 * 24);
	for (i = 0; i < 40; i++)
		heap_free(h, c, old[i]);
	cache_flush(c);
	heap_trim(h, true);
	p = take(h, c, 0, 80);
	for (i = 0; i < 40; i++) {
		rc = heap_free(h, c, old[i]);
		nr += rc == -EINVAL || rc == -EALREADY;
	}
	is(nr, 40, "none of the old blocks is taken for a new one");
	q = take(h, c, 0, 80);
	ok(q && q != p, "the new blocks are intact");
	is(heap_free(h, c, p), 0, "and can be freed");
	heap_cache_destroy(c);
	heap_destroy(h);
}

static void foreign_is_refused(void)
{
	struct heap *h = plain_heap(), *other = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	void *mine = take(h, c, 0, 64), *theirs = take(other, NULL, 0, 64);
	char on_stack[64];
	static char in_data[64];
	void *libc = malloc(64);

	is(heap_free(h, c, on_stack), -EINVAL, "a stack address");
	is(heap_free(h, c, in_data), -EINVAL, "static memory");
	is(heap_free(h, c, libc), -EINVAL, "malloc's");
	is(heap_free(h, c, theirs), -EINVAL, "another heap's");
	is(heap_free(h, c, NULL), -EINVAL, "NULL");
	is(heap_free(h, c, (void *)UINTPTR_MAX), -EINVAL, "the last address");
	is(heap_free(h, c, (void *)((uintptr_t)1 << 47)), -EINVAL,
	   "the first address of nobody");
	is(heap_free(h, c, h), -EINVAL, "the heap itself");
	is(heap_free(h, c, h->memory[0]), -EINVAL, "a record of the heap");
	is(heap_memory_of(h, theirs), -1, "another heap's has no memory here");
	is(heap_size(h, on_stack), 0, "and no size");
	is(heap_free(h, c, mine), 0, "its own is freed");
	is(heap_free(other, NULL, theirs), 0, "the other's, too");
	free(libc);
	heap_cache_destroy(c);
	heap_destroy(h);
	heap_destroy(other);
}

static int nr_refused(struct heap *h, struct cache *c, char *p, size_t size,
		      int *nr)
{
	size_t at;
	int refused = 0;

	*nr = 0;
	for (at = 1; at < size; at += at < 64 ? 1 : size / 37 + 16, (*nr)++) {
		refused += heap_free(h, c, p + at) == -EINVAL &&
			   heap_size(h, p + at) == 0;
	}
	return refused;
}

static void inside_is_refused(bool has_cache)
{
	struct heap *h = plain_heap();
	struct cache *c = has_cache ? heap_cache_create(h, 0) : NULL;
	const char *with = has_cache ? "with a cache" : "without";
	size_t i;
	char *p;
	int nr, refused;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		p = take(h, c, 1, sizes[i]);
		memset(p, 0x5a, sizes[i]);
		refused = nr_refused(h, c, p, sizes[i], &nr);
		is(refused, nr, "%zu, %s: nothing inside is freed", sizes[i],
		   with);
		is(heap_free(h, c, p), 0, "%zu, %s: itself", sizes[i], with);
	}
	heap_cache_destroy(c);
	heap_destroy(h);
}

/* Of a span in use: blocks that nobody ever got. */
static void never_handed_out(bool has_cache)
{
	struct heap *h = plain_heap();
	struct cache *c = has_cache ? heap_cache_create(h, 0) : NULL;
	const char *with = has_cache ? "with a cache" : "without";
	char *p = take(h, c, 0, 80), *base;
	int refused = 0, nr = 0, error;
	struct span *s = entry_span(index_entry(&h->index, p));
	size_t at;

	base = s->base;
	for (at = 0; at < s->nr_pages * HEAP_PAGE; at += 80) {
		if (base + at == p)
			continue;
		refused += heap_free(h, c, base + at) != 0;
		refused += heap_size(h, base + at) == 0;
		nr++;
	}
	is(refused, 2 * nr, "%s: none of %d blocks nobody got is freed", with,
	   nr);
	ok(!heap_resize(h, c, base + 80 * 5 + 16, 100, &error) &&
		   error == EINVAL,
	   "%s: what is no block is not resized", with);
	is(heap_free(h, c, base + (size_t)s->nr_pages * HEAP_PAGE), -EINVAL,
	   "%s: a page of no span", with);
	is(heap_free(h, c, p), 0, "%s: the one that was got is", with);
	heap_cache_destroy(c);
	heap_destroy(h);
}

struct found {
	uint64_t nr[2], bytes[2], others;
};

static void found_one(void *u, unsigned memory, const char *label, uint64_t nr,
		      uint64_t bytes)
{
	struct found *f = u;
	int i = !strcmp(label, "mesh") && memory == 1	 ? 0
		: !strcmp(label, "sweep") && memory == 2 ? 1
							 : -1;

	if (i < 0) {
		f->others += nr;
		return;
	}
	f->nr[i] += nr;
	f->bytes[i] += bytes;
}

static void name(struct heap *h, void *p, const char *text)
{
	struct span *s = entry_span(index_entry(&h->index, p));
	uint32_t i = 0;

	if (s->block_size)
		i = (uint32_t)((char *)p - s->base) / s->block_size;
	label_set(s, i, label_take(&h->labels, text));
}

static uint32_t label_of(struct heap *h, void *p)
{
	struct span *s = entry_span(index_entry(&h->index, p));
	uint32_t i = 0;

	if (s->block_size)
		i = (uint32_t)((char *)p - s->base) / s->block_size;
	return label_get(s, i);
}

/* A text ends with its last block: a number is given on. */
static void labels_are_given_back(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	void *small = take(h, c, 1, 100), *large = take(h, c, 1, 3 * MIB);
	char text[LABEL_MAX + 1];
	uint32_t number;
	int i;

	for (i = 0; i < 100000; i++) {
		snprintf(text, sizeof(text), "unique %d", i);
		name(h, i % 2 ? large : small, text);
	}
	ok(a_load(&h->labels.nr, relaxed) <= 3, "%u numbers for 100000 names",
	   a_load(&h->labels.nr, relaxed));
	is(h->labels.nr_used, 2, "two texts are kept");
	label_text(&h->labels, label_of(h, small), text);
	has(text, "unique 99998", "the small block's");
	label_text(&h->labels, label_of(h, large), text);
	has(text, "unique 99999", "and the large one's");
	number = label_take(&h->labels, "unique 99998");
	is(number, label_of(h, small), "which is found");
	name(h, small, NULL);
	is(h->labels.nr_used, 2, "whoever has a reference keeps the text");
	label_put(&h->labels, number);
	heap_free(h, c, large);
	heap_free(h, c, small);
	heap_cache_destroy(c);
	heap_trim(h, true);
	ok(h->labels.nr_used <= 1, "no block: a span that is kept at most");
	heap_destroy(h);
}

/* The text of a number, until the next call. */
static const char *text_of(struct heap *h, uint32_t number)
{
	static char text[LABEL_MAX + 1];

	label_text(&h->labels, number, text);
	return text;
}

static uint32_t next_label(struct labels *l, uint32_t number)
{
	uint32_t i = number - 1, k = 0;

	while (i >= (uint32_t)LABEL_FIRST << k)
		i -= (uint32_t)LABEL_FIRST << k++;
	return a_load(&l->chunk[k], relaxed)[i].next;
}

/* Many at a time: the table grows with them, numbers stay what they are. */
static void many_labels_are_found_at_once(void)
{
	struct heap *h = plain_heap();
	struct labels *l = &h->labels;
	uint32_t *number = calloc(20000, sizeof(*number)), deep = 0, nr, i, at;
	char text[LABEL_MAX + 1], want[LABEL_MAX + 1];
	int bad = 0;

	for (i = 0; i < 20000; i++) {
		snprintf(text, sizeof(text), "unique %u", i);
		number[i] = label_take(l, text);
	}
	ok(l->hash_size >= l->nr_used,
	   "the table is as large as they are many");
	for (i = 0; i < l->hash_size; i++) {
		nr = 0;
		for (at = l->hash[i]; at; nr++)
			at = next_label(l, at);
		deep = nr > deep ? nr : deep;
	}
	ok(deep < 16, "at most %u of one hash", deep);
	for (i = 0; i < 20000; i++) {
		snprintf(want, sizeof(want), "unique %u", i);
		label_text(l, number[i], text);
		bad += strcmp(text, want) != 0;
		label_put(l, number[i]);
	}
	is(bad, 0, "each number has its text");
	is(l->nr_used, 0, "all are given back");
	number[0] = label_take(l, "again");
	ok(number[0] <= 20000, "and given on");
	label_put(l, number[0]);
	free(number);
	heap_destroy(h);
}

static void leaks_by_label(void)
{
	struct heap *h = plain_heap();
	struct cache *c = heap_cache_create(h, 0);
	struct found f = { .others = 0 };
	uint32_t mesh;
	void *p[20];
	int i;

	for (i = 0; i < 20; i++) {
		p[i] = take(h, c, i < 15 ? 1 : 2, i < 15 ? 100 : 3 * MIB);
		name(h, p[i], i < 15 ? "mesh" : "sweep");
	}
	for (i = 0; i < 10; i++)
		heap_free(h, c, p[i]);
	mesh = label_take(&h->labels, "mesh");
	is(label_of(h, p[3]), mesh, "a freed block keeps its label");
	label_put(&h->labels, mesh);
	heap_leaks(h, found_one, &f);
	is(f.nr[0], 5, "five of a small label are out");
	is(f.bytes[0], 5 * 112, "and their bytes");
	is(f.nr[1], 5, "five of a large one");
	ok(f.bytes[1] >= 5 * 3 * MIB, "and their bytes");
	is(f.others, 0, "and nothing else");
	for (i = 10; i < 20; i++)
		heap_free(h, c, p[i]);
	memset(&f, 0, sizeof(f));
	heap_leaks(h, found_one, &f);
	is(f.nr[0] + f.nr[1] + f.others, 0, "nothing is out at the end");
	heap_cache_destroy(c);
	heap_destroy(h);
}

static void labels_are_texts(void)
{
	struct heap *h = plain_heap();
	char text[200];
	uint32_t first = label_take(&h->labels, "a"), i;
	int bad = 0;

	is(label_take(&h->labels, "a"), first, "a text has one number");
	is(label_take(&h->labels, ""), 0, "no text has none");
	is(label_take(&h->labels, NULL), 0, "NULL has none");
	for (i = 0; i < 1000; i++) {
		snprintf(text, sizeof(text), "label %u", i);
		bad += strcmp(text_of(h, label_take(&h->labels, text)), text) !=
		       0;
	}
	is(bad, 0, "a thousand texts are kept");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	is(strlen(text_of(h, label_take(&h->labels, text))), LABEL_MAX,
	   "a long one is cut");
	heap_destroy(h);
}

int main(void)
{
	tap_start(120);
	twice_is_refused(true);
	twice_is_refused(false);
	twice_after_trim();
	twice_after_other_class();
	foreign_is_refused();
	inside_is_refused(true);
	inside_is_refused(false);
	never_handed_out(true);
	never_handed_out(false);
	labels_are_given_back();
	many_labels_are_found_at_once();
	leaks_by_label();
	labels_are_texts();
	return tap_end();
}
