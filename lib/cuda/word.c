/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Words of pieces: taken 64 at a time from the driver, which waits for all
 * kernels when it gets them back, so that is at the end.
 */
#include "cuda/device.h"

#include "base/err.h"

#include <errno.h>
#include <stdlib.h>

#define WORDS 64

struct cuda_words {
	struct cuda_words *next;
	void *block;
	uint32_t nr_taken;
	struct cuda_word word[WORDS];
};

struct cuda_spare_word {
	struct cuda_spare_word *next;
	struct cuda_word word;
};

static int add_words(struct cuda_device *d)
{
	struct cuda_words *w = calloc(1, sizeof(*w));
	int rc;

	if (!w)
		return err(-ENOMEM, "cuda: no memory");
	rc = cuda_make_words(d, WORDS, w->word, &w->block);
	if (rc) {
		free(w);
		return rc;
	}
	w->next = d->more_words;
	d->more_words = w;
	return 0;
}

int cuda_take_word(struct cuda_device *d, struct cuda_word *out)
{
	struct cuda_spare_word *s = d->spare_words;
	struct cuda_words *w = d->more_words;
	int rc;

	if (s) {
		d->spare_words = s->next;
		*out = s->word;
		free(s);
		return 0;
	}
	if (!w || w->nr_taken == WORDS) {
		rc = add_words(d);
		if (rc)
			return rc;
		w = d->more_words;
	}
	*out = w->word[w->nr_taken++];
	return 0;
}

/* Without memory for a note of it nobody has it again. */
void cuda_put_word(struct cuda_device *d, struct cuda_word *word)
{
	struct cuda_spare_word *s = malloc(sizeof(*s));

	if (!s)
		return;
	s->word = *word;
	s->next = d->spare_words;
	d->spare_words = s;
}

void cuda_close_words(struct cuda_device *d, bool keeps_words)
{
	struct cuda_spare_word *s;
	struct cuda_words *w;

	while ((s = d->spare_words)) {
		d->spare_words = s->next;
		free(s);
	}
	while ((w = d->more_words)) {
		d->more_words = w->next;
		if (!keeps_words)
			d->cuda.cuMemFreeHost(w->block);
		free(w);
	}
}
