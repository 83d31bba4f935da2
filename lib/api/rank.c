/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/rank.h"

#include "base/err.h"
#include "base/option.h"
#include "base/util.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The rank that MPI's launcher gave this process; 0 in any other program, and
 * with raised rights. */
static unsigned rank_of_self(void)
{
	static const char *const names[] = { "OMPI_COMM_WORLD_RANK",
					     "PMIX_RANK", "PMI_RANK",
					     "SLURM_PROCID" };
	const char *text = NULL;
	unsigned long rank;
	char *end;
	size_t i;

	for (i = 0; !text && i < ARRAY_SIZE(names); i++)
		text = secure_getenv(names[i]);
	if (!text || !isdigit((unsigned char)*text))
		return 0;
	rank = strtoul(text, &end, 10);
	return *end || rank > INT_MAX ? 0 : (unsigned)rank;
}

int rank_put(char *text, size_t size)
{
	char name[OPTION_TEXT_SIZE], *at = text;
	size_t used = 0;
	int n;

	check(size <= sizeof(name));
	while (*at && used < size) {
		if (at[0] == '%' && at[1] == 'r')
			n = snprintf(name + used, size - used, "%u",
				     rank_of_self());
		else
			n = snprintf(name + used, size - used, "%.*s",
				     at[0] == '%' && at[1] ? 2 : 1, at);
		used += (size_t)n;
		at += at[0] == '%' && at[1] ? 2 : 1;
	}
	if (used >= size)
		return err(-ENAMETOOLONG, "option trace: a name of %zu bytes",
			   used);
	memcpy(text, name, used);
	text[used] = 0;
	return 0;
}
