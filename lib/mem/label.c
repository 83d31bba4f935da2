/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/label.h"

#include "mem/heap.h"
#include "mem/memory.h"

#include <string.h>

/* FNV-1a (Fowler, Noll, Vo). */
static uint32_t hash_of(const char *text, size_t size)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < size; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h;
}

/* Chunk k has the numbers from FIRST * (2^k - 1) + 1 on. */
static unsigned chunk_of(uint32_t number, uint32_t *at)
{
	uint32_t i = number - 1;
	unsigned k = 31u - (unsigned)__builtin_clz(i / LABEL_FIRST + 1);

	*at = i - LABEL_FIRST * ((1u << k) - 1);
	return k;
}

static struct label *label_of(struct labels *l, uint32_t number)
{
	uint32_t at;
	unsigned k = chunk_of(number, &at);

	/* [label.chunk] its zeroes; pairs with [label.made]. */
	return a_load(&l->chunk[k], acquire) + at;
}

/* Under lock: where its number is, or would be. */
static uint32_t *bucket_of(struct labels *l, const char *text, size_t size)
{
	return &l->hash[hash_of(text, size) & (l->hash_size - 1)];
}

/* Under lock. 0: there is none. */
static uint32_t find_label(struct labels *l, const char *text, size_t size)
{
	struct label *i;
	uint32_t number;

	lock_assert_held(&l->lock);
	if (!l->hash)
		return 0;
	for (number = *bucket_of(l, text, size); number; number = i->next) {
		i = label_of(l, number);
		if (!strncmp(i->text, text, size) && !i->text[size])
			return number;
	}
	return 0;
}

/* Under lock. */
static void link_in(struct labels *l, uint32_t number)
{
	struct label *i = label_of(l, number);
	uint32_t *bucket = bucket_of(l, i->text, strlen(i->text));

	lock_assert_held(&l->lock);
	i->next = *bucket;
	*bucket = number;
}

/* Under lock. False: there is no table, and no memory for one. */
static bool grow_table(struct labels *l)
{
	uint32_t size = l->hash ? 2 * l->hash_size : LABEL_FIRST,
		 *old = l->hash;
	size_t old_bytes = l->hash_size * sizeof(*old);
	uint32_t *hash = meta_alloc(l->meta, size * sizeof(*hash)), i;

	lock_assert_held(&l->lock);
	if (!hash)
		return old != NULL;
	l->hash = hash;
	l->hash_size = size;
	for (i = 1; i <= a_load(&l->nr, relaxed); i++)
		if (label_of(l, i)->is_used)
			link_in(l, i);
	if (old)
		meta_free(l->meta, old, old_bytes);
	return true;
}

/* Under lock. A number that nobody has; 0: no memory. */
static uint32_t take_free(struct labels *l)
{
	uint32_t number = l->free, at;
	struct label *chunk;
	unsigned k;

	lock_assert_held(&l->lock);
	if (number) {
		l->free = label_of(l, number)->next;
		return number;
	}
	number = a_load(&l->nr, relaxed) + 1;
	k = chunk_of(number, &at);
	if (k >= LABEL_CHUNKS)
		return 0;
	if (!a_load(&l->chunk[k], relaxed)) {
		chunk = meta_alloc(l->meta,
				   ((size_t)LABEL_FIRST << k) * sizeof(*chunk));
		if (!chunk)
			return 0;
		/* [label.made] pairs with [label.chunk]. */
		a_store(&l->chunk[k], chunk, release);
	}
	a_store(&l->nr, number, relaxed);
	return number;
}

/* Under lock. */
static uint32_t add_label(struct labels *l, const char *text, size_t size)
{
	struct label *new;
	uint32_t number;

	lock_assert_held(&l->lock);
	if (l->nr_used >= l->hash_size && !grow_table(l))
		return 0;
	number = take_free(l);
	if (!number)
		return 0;
	new = label_of(l, number);
	memcpy(new->text, text, size);
	new->text[size] = 0;
	new->is_used = true;
	link_in(l, number);
	l->nr_used++;
	return number;
}

uint32_t label_take(struct labels *l, const char *text)
{
	uint32_t number;
	size_t size;

	if (!text || !text[0])
		return 0;
	size = strnlen(text, LABEL_MAX);
	lock_take(&l->lock);
	number = find_label(l, text, size);
	if (!number)
		number = add_label(l, text, size);
	if (number)
		a_add(&label_of(l, number)->nr_refs, 1, relaxed);
	lock_give(&l->lock);
	return number;
}

void label_hold(struct labels *l, uint32_t number)
{
	if (number)
		a_add(&label_of(l, number)->nr_refs, 1, relaxed);
}

/* Under lock. Its number is somebody's next. */
static void end_label(struct labels *l, uint32_t number)
{
	struct label *i = label_of(l, number);
	uint32_t *at = bucket_of(l, i->text, strlen(i->text));

	lock_assert_held(&l->lock);
	check(i->is_used);
	while (*at != number)
		at = &label_of(l, *at)->next;
	*at = i->next;
	i->is_used = false;
	i->next = l->free;
	l->free = number;
	l->nr_used--;
}

void label_put(struct labels *l, uint32_t number)
{
	struct label *i;

	if (!number)
		return;
	i = label_of(l, number);
	if (a_sub(&i->nr_refs, 1, relaxed) != 1)
		return;
	lock_take(&l->lock);
	/* Somebody may have found it since, or ended it in our place. */
	if (i->is_used && !a_load(&i->nr_refs, relaxed))
		end_label(l, number);
	lock_give(&l->lock);
}

void label_text(struct labels *l, uint32_t number, char text[LABEL_MAX + 1])
{
	text[0] = 0;
	if (!number)
		return;
	lock_take(&l->lock);
	memcpy(text, label_of(l, number)->text, LABEL_MAX + 1);
	lock_give(&l->lock);
}

static size_t array_size(const struct span *s)
{
	return s->nr_blocks * sizeof(uint32_t);
}

/* The span's numbers, made when the first block gets one. */
static _Atomic(uint32_t) *numbers(struct span *s)
{
	/* [label.see] its zeroes; pairs with [label.new]. */
	_Atomic(uint32_t) *v = a_load(&s->label, acquire), *other = NULL;
	struct meta *meta = &s->memory->meta;

	if (v)
		return v;
	v = meta_alloc(meta, array_size(s));
	if (!v)
		return NULL;
	/* [label.new] pairs with [label.see]. */
	if (a_cas(&s->label, &other, v, acq_rel, acquire))
		return v;
	meta_free(meta, (void *)(uintptr_t)v, array_size(s));
	return other;
}

/* The block's owner has a reference to number. */
static void list_block(struct labels *l, const struct span *s, uint32_t i,
		       uint32_t number)
{
	bool is_large = s->class == CLASS_LARGE;
	const char *at = s->base + (size_t)i * s->block_size;

	if (number)
		listing_set(&l->listing, at, is_large ? s->size : s->block_size,
			    label_of(l, number)->text);
	else
		listing_drop(&l->listing, at);
}

static void set_large(struct labels *l, struct span *s, uint32_t number)
{
	uint32_t old = a_load(&s->large_label, relaxed);

	if (number || old)
		list_block(l, s, 0, number);
	a_store(&s->large_label, number, relaxed);
	label_put(l, old);
}

void label_set(struct span *s, uint32_t i, uint32_t number)
{
	struct labels *l = &s->memory->heap->labels;
	_Atomic(uint32_t) *v;
	uint32_t old;

	if (s->class == CLASS_LARGE) {
		set_large(l, s, number);
		return;
	}
	/* [label.peek] its zeroes; pairs with [label.new]. */
	if (!number && !a_load(&s->label, acquire))
		return;
	v = numbers(s);
	old = v ? a_load(&v[i], relaxed) : number;
	if (old != number)
		list_block(l, s, i, number);
	if (v)
		a_store(&v[i], number, relaxed);
	label_put(l, old);
}

uint32_t label_get(struct span *s, uint32_t i)
{
	_Atomic(uint32_t) *v;

	if (s->class == CLASS_LARGE)
		return a_load(&s->large_label, relaxed);
	/* [label.get] its numbers; pairs with [label.new]. */
	v = a_load(&s->label, acquire);
	return v ? a_load(&v[i], relaxed) : 0;
}

void label_forget(struct span *s)
{
	_Atomic(uint32_t) *v = a_load(&s->label, relaxed);
	struct labels *l = &s->memory->heap->labels;
	uint32_t i;

	if (s->class == CLASS_LARGE)
		set_large(l, s, 0);
	for (i = 0; v && i < s->nr_blocks; i++) {
		if (a_load(&v[i], relaxed))
			list_block(l, s, i, 0);
		label_put(l, a_load(&v[i], relaxed));
	}
	if (v)
		meta_free(&s->memory->meta, (void *)(uintptr_t)v,
			  array_size(s));
	a_store(&s->label, NULL, relaxed);
}
