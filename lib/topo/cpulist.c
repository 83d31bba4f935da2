/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "topo/cpulist.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Digits only: no sign, no blanks. NULL: no number here, or too high. */
static const char *take_number(const char *s, int *out)
{
	int v = 0;

	if (!isdigit((unsigned char)*s))
		return NULL;
	for (; isdigit((unsigned char)*s); s++) {
		v = v * 10 + (*s - '0');
		if (v >= CPULIST_MAX)
			return NULL;
	}
	*out = v;
	return s;
}

/* "3" or "2-5"; NULL and *s at the offence otherwise. */
static const char *take_range(const char **s, int *first, int *last)
{
	const char *next = take_number(*s, first);

	if (!next)
		return NULL;
	*last = *first;
	if (*next != '-')
		return next;
	*s = next + 1;
	next = take_number(*s, last);
	return next && *last >= *first ? next : NULL;
}

static const char *skip_space(const char *s)
{
	while (isspace((unsigned char)*s))
		s++;
	return s;
}

static int fault_at(const char *text, const char *s, size_t *at)
{
	if (at)
		*at = (size_t)(s - text);
	return -EINVAL;
}

int cpulist_parse(const char *text, cpulist_fn fn, void *u, size_t *at)
{
	const char *s = skip_space(text), *next;
	int first, last, rc;

	if (!*s)
		return 0;
	for (;;) {
		next = take_range(&s, &first, &last);
		if (!next)
			return fault_at(text, s, at);
		rc = fn(u, first, last);
		if (rc)
			return rc;
		if (*next != ',')
			break;
		s = next + 1;
	}
	s = skip_space(next);
	return *s ? fault_at(text, s, at) : 0;
}

const char *cpulist_text(const int *v, int nr, char *buf, size_t size)
{
	size_t used = 0;
	int i, j;

	buf[0] = '\0';
	for (i = 0; i < nr; i = j) {
		char part[32];
		int len;

		for (j = i + 1; j < nr && v[j] <= v[j - 1] + 1; j++)
			;
		if (v[j - 1] > v[i])
			len = snprintf(part, sizeof(part), "%s%d-%d",
				       i ? "," : "", v[i], v[j - 1]);
		else
			len = snprintf(part, sizeof(part), "%s%d", i ? "," : "",
				       v[i]);
		if (used + (size_t)len + sizeof("...") > size) {
			snprintf(buf + used, size - used, "...");
			break;
		}
		memcpy(buf + used, part, (size_t)len + 1);
		used += (size_t)len;
	}
	return buf;
}
