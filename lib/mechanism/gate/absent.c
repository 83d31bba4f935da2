/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/gate/gate.h"

void gate_read(struct gate *g, struct gate_count *out)
{
	(void)g;
	*out = (struct gate_count){ 0 };
}

void gate_peek(struct gate *g, struct gate_count *out)
{
	gate_read(g, out);
}

const char *gate_pass_text(enum gate_pass pass)
{
	(void)pass;
	return "";
}

bool gate_enter_slowly(struct gate *g, struct worker *w, uint64_t item,
		       enum gate_pass why)
{
	(void)g;
	(void)w;
	(void)item;
	(void)why;
	return true;
}
