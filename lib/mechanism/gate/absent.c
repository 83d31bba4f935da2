/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/gate/gate.h"

void gate_read(struct gate *g, struct gate_count *out)
{
	(void)g;
	*out = (struct gate_count){ 0 };
}

bool gate_enter_slowly(struct gate *g, struct worker *w, uint64_t item)
{
	(void)g;
	(void)w;
	(void)item;
	return true;
}
