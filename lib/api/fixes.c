/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "api/fixes.h"

#include "base/err.h"
#include "base/log.h"
#include "base/util.h"
#include "core/runtime.h"

#include <ctype.h>
#include <errno.h>
#include <lkdf/channel.h>
#include <lkdf/kind.h>
#include <lkdf/runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_FIXES 16
#define NAME_SIZE 64

static const struct {
	const char *name, *object;
	uint64_t max;
} sorts[NR_FIX_SORTS] = {
	[FIX_TOKENS] = { "tokens", "limit", UINT32_MAX },
	[FIX_WINDOW] = { "window", "scope", INT64_MAX },
	[FIX_DEPTH] = { "depth", "channel", LKDF_MAX_DEPTH },
	[FIX_GRAIN] = { "grain", "loop", INT64_MAX },
	[FIX_PRIORITY] = { "priority", "kind", 0 },
};

static const char *const prios[] = {
	[LKDF_IDLE] = "idle",
	[LKDF_NORMAL] = "normal",
	[LKDF_HIGH] = "high",
	[LKDF_URGENT] = "urgent",
};

struct fix {
	enum fix_sort sort;
	char name[NAME_SIZE];
	uint64_t value;
	char text[NAME_SIZE + 48]; /* as it was given */
	_Atomic(bool) is_made; /* an object has got it */
};

struct fixes {
	unsigned nr;
	struct fix fix[MAX_FIXES];
};

/* 0: none of the words. */
static uint64_t read_prio(const char *text)
{
	uint64_t i;

	for (i = LKDF_IDLE; i <= LKDF_URGENT; i++)
		if (!strcmp(text, prios[i]))
			return i;
	return 0;
}

/* 0: not 1 .. max. */
static uint64_t read_number(const char *text, uint64_t max)
{
	unsigned long long v;
	char *end;

	if (!isdigit((unsigned char)text[0]))
		return 0;
	errno = 0;
	v = strtoull(text, &end, 10);
	return errno || *end || v > max ? 0 : v;
}

/* "tokens=NAME:4"; the name may have a colon. */
static int read_fix(struct fix *f, char *text)
{
	char *name = strchr(text, '='), *value = strrchr(text, ':');
	int s;

	snprintf(f->text, sizeof(f->text), "%s", text);
	if (!name || !value || value <= name + 1 ||
	    (size_t)(value - name) > NAME_SIZE)
		return err(-EINVAL,
			   "fix: \"%s\": expected tokens=NAME:N, and likewise "
			   "window, depth, grain, priority",
			   f->text);
	*name++ = *value++ = '\0';
	for (s = 0; s < NR_FIX_SORTS && strcmp(text, sorts[s].name); s++)
		continue;
	if (s == NR_FIX_SORTS)
		return err(-EINVAL,
			   "fix: \"%s\": expected one of tokens, window, "
			   "depth, grain, priority",
			   f->text);
	f->sort = (enum fix_sort)s;
	snprintf(f->name, sizeof(f->name), "%s", name);
	f->value = s == FIX_PRIORITY ? read_prio(value)
				     : read_number(value, sorts[s].max);
	if (f->value)
		return 0;
	if (s == FIX_PRIORITY)
		return err(-EINVAL,
			   "fix: \"%s\": a priority is idle, normal, high or "
			   "urgent",
			   f->text);
	return err(-EINVAL, "fix: \"%s\": expected 1 .. %llu", f->text,
		   (unsigned long long)sorts[s].max);
}

int fixes_read(const char *text, struct fixes **out)
{
	struct fixes *all;
	char *copy, *at, *rest = NULL;
	int rc = 0;

	*out = NULL;
	if (!text[0])
		return 0;
	all = calloc(1, sizeof(*all));
	copy = strdup(text);
	if (!all || !copy)
		rc = err(-ENOMEM, "fix: no memory");
	for (at = copy ? strtok_r(copy, ",", &rest) : NULL; at && !rc;
	     at = strtok_r(NULL, ",", &rest)) {
		if (all->nr == MAX_FIXES)
			rc = err(-EINVAL, "fix: more than %d changes",
				 MAX_FIXES);
		else
			rc = read_fix(&all->fix[all->nr++], at);
	}
	free(copy);
	if (rc)
		free(all);
	else
		*out = all;
	return rc;
}

void fixes_tell(struct lkdf *rt)
{
	struct fix *f;
	unsigned i;

	for (i = 0; rt->fixes && i < rt->fixes->nr; i++) {
		f = &rt->fixes->fix[i];
		if (!a_load(&f->is_made, relaxed))
			log_text(&rt->log, LKDF_LOG_ERROR,
				 "fix: %s: no %s of that name was made",
				 f->text, sorts[f->sort].object);
	}
}

static void note_made(struct lkdf *rt, struct fix *f)
{
	char text[sizeof(f->text) + 8];

	if (a_xchg(&f->is_made, true, relaxed))
		return;
	snprintf(text, sizeof(text), "fix: %s", f->text);
	if (trace_is_recording(&rt->trace))
		trace_name(&rt->trace, text);
}

uint64_t fixes_value(struct lkdf *rt, enum fix_sort sort, const char *name,
		     uint64_t value)
{
	struct fix *f;
	unsigned i;

	for (i = 0; rt->fixes && name && i < rt->fixes->nr; i++) {
		f = &rt->fixes->fix[i];
		if (f->sort != sort || strcmp(f->name, name))
			continue;
		note_made(rt, f);
		value = f->value;
	}
	return value;
}
