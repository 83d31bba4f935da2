/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include <lkdf/port.h>

#include "api/border.h"
#include "run/port_run.h"

int lkdf_graph_port(struct lkdf_graph *g, int32_t from, uint16_t out,
		    int32_t to, uint16_t in)
{
	const struct lkdf_edge e = {
		.size = sizeof(e),
		.flags = LKDF_EDGE_PORT,
		.from = from,
		.to = to,
		.out = out,
		.in = in,
	};

	return lkdf_graph_edge(g, &e);
}

const void *lkdf_in(const struct lkdf_ctx *c, unsigned port)
{
	return border_ctx(c, "in") ? NULL : port_in(c, port);
}

void *lkdf_out(const struct lkdf_ctx *c, unsigned port)
{
	return border_ctx(c, "out") ? NULL : port_out(c, port);
}

int lkdf_own(const struct lkdf_ctx *c, unsigned port)
{
	int rc = border_ctx(c, "own");

	return rc ? rc : port_own(c, port);
}

int lkdf_pass(const struct lkdf_ctx *c, unsigned out, unsigned in)
{
	int rc = border_ctx(c, "pass");

	return rc ? rc : port_pass(c, out, in);
}
