/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Memory of a frame for its graph's regions. */
#include "run/region_run.h"

#include "base/err.h"
#include "graph/control.h"

#include <errno.h>
#include <stdlib.h>

static bool init_run(struct region_run *run, const struct region *r)
{
	uint64_t *words = calloc(1, r->nr_words * 2 * sizeof(*words) +
					    r->nr * (sizeof(*run->value) +
						     2 * sizeof(*run->waits)) +
					    r->nr_edges);

	if (!words)
		return false;
	run->bits = words;
	run->chosen = run->bits + r->nr_words;
	run->value = (int32_t *)(run->chosen + r->nr_words);
	run->waits = (uint16_t *)(run->value + r->nr);
	run->ran = run->waits + r->nr;
	run->taken = (uint8_t *)(run->ran + r->nr);
	return true;
}

int region_run_create(struct frame *f)
{
	const struct control *c = f->graph->control;
	uint32_t l;

	if (!c->regions)
		return 0;
	f->control.regions = calloc(c->nr_loops, sizeof(struct region_run));
	for (l = 0; f->control.regions && l < c->nr_loops; l++)
		if (c->regions[l] &&
		    !init_run(&f->control.regions[l], c->regions[l]))
			break;
	if (f->control.regions && l == c->nr_loops)
		return 0;
	return err(-ENOMEM, "graph %s: no memory for a run's regions",
		   f->graph->name);
}

void region_run_destroy(struct frame *f)
{
	uint32_t l;

	if (!f->control.regions)
		return;
	for (l = 0; l < f->graph->control->nr_loops; l++)
		free(f->control.regions[l].bits);
	free(f->control.regions);
}
