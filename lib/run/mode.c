/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "run/mode.h"

/* The last one is for all. */
static const struct run_mode *const modes[] = {
	&static_mode, &regions_mode,   &control_mode,
	&tokens_mode, &transient_mode, &plain_mode,
};

void mode_choose(struct worker *w, struct frame *f)
{
	const struct run_mode *const *m = modes;

	while (!(*m)->is_for(w, f))
		m++;
	f->mode = *m;
}
