/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/label.h"

#include "mem/memory.h"

#include <string.h>

/* FNV-1a (Fowler, Noll, Vo). */
static unsigned hash_of(const char *text, size_t size)
{
	uint32_t h = 2166136261u;
	size_t i;

	for (i = 0; i < size; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619u;
	return h % LABEL_HASH;
}

/* Under lock. */
static struct label *find(struct labels *l, unsigned hash, const char *text,
			  size_t size)
{
	struct label *i;

	lock_assert_held(&l->lock);
	for (i = l->hash[hash]; i; i = i->next)
		if (!strncmp(i->text, text, size) && !i->text[size])
			return i;
	return NULL;
}

/* Under lock. */
static struct label *add(struct labels *l, unsigned hash, const char *text,
			 size_t size)
{
	struct label *new = meta_alloc(l->meta, sizeof(*new));

	lock_assert_held(&l->lock);
	if (!new)
		return NULL;
	memcpy(new->text, text, size);
	new->next = l->hash[hash];
	l->hash[hash] = new;
	new->number = a_add(&l->nr, 1, relaxed) + 1;
	return new;
}

uint32_t label_number(struct labels *l, const char *text)
{
	struct label *found;
	unsigned hash;
	size_t size;

	if (!text || !text[0])
		return 0;
	size = strnlen(text, LABEL_MAX);
	hash = hash_of(text, size);
	lock_take(&l->lock);
	found = find(l, hash, text, size);
	if (!found)
		found = add(l, hash, text, size);
	lock_give(&l->lock);
	return found ? found->number : 0;
}

const char *label_text(struct labels *l, uint32_t number)
{
	const char *text = "";
	struct label *i;
	unsigned h;

	if (!number)
		return text;
	lock_take(&l->lock);
	for (h = 0; h < LABEL_HASH; h++)
		for (i = l->hash[h]; i; i = i->next)
			if (i->number == number)
				text = i->text;
	lock_give(&l->lock);
	return text;
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

void label_set(struct span *s, uint32_t i, uint32_t number)
{
	_Atomic(uint32_t) *v;

	if (s->class == CLASS_LARGE) {
		a_store(&s->large_label, number, relaxed);
		return;
	}
	/* [label.peek] its zeroes; pairs with [label.new]. */
	if (!number && !a_load(&s->label, acquire))
		return;
	v = numbers(s);
	if (v)
		a_store(&v[i], number, relaxed);
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

	if (v)
		meta_free(&s->memory->meta, (void *)(uintptr_t)v,
			  array_size(s));
	a_store(&s->label, NULL, relaxed);
}
