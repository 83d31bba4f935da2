/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "task/uses_check.h"

#include "base/err.h"
#include "base/util.h"
#include "data/data.h"

#include <errno.h>
#include <stdio.h>

#define MODES (LKDF_RW | LKDF_COMMUTE | LKDF_REDUCE | LKDF_WEAK | LKDF_MAYBE)

/* The names of a mode's bits, such as "READ|COMMUTE". */
static void mode_text(uint32_t mode, char *to, size_t size)
{
	static const char *const name[] = { "READ",   "WRITE", "COMMUTE",
					    "REDUCE", "WEAK",  "MAYBE" };
	size_t i, len = 0;

	to[0] = 0;
	for (i = 0; i < ARRAY_SIZE(name) && len < size; i++) {
		if (mode & 1u << i)
			len += (size_t)snprintf(to + len, size - len, "%s%s",
						len ? "|" : "", name[i]);
	}
	mode &= ~(uint32_t)MODES;
	if ((mode || !len) && len < size)
		snprintf(to + len, size - len, "%s%#x", len ? "|" : "", mode);
}

static int check_mode(const struct lkdf_data *d, uint32_t mode, unsigned i)
{
	char text[DATA_TEXT], modes[64];

	switch (mode & ~(uint32_t)LKDF_WEAK) {
	case LKDF_READ:
	case LKDF_WRITE:
	case LKDF_RW:
	case LKDF_RW | LKDF_MAYBE:
	case LKDF_COMMUTE:
		return 0;
	case LKDF_REDUCE:
		if (d->reduce)
			return 0;
		return err(-EINVAL,
			   "use %u: REDUCE, but %s was created without reduce",
			   i, data_text(d, 0, text));
	}
	mode_text(mode, modes, sizeof(modes));
	return err(-EINVAL,
		   "use %u of %s: mode %s: expected READ, WRITE, RW, "
		   "RW|MAYBE, COMMUTE or REDUCE, and WEAK with any",
		   i, data_text(d, 0, text), modes);
}

static bool is_usual(const struct lkdf *rt, const struct lkdf_use *u)
{
	const struct lkdf_data *d = u->data;

	return d && d->domain.rt == rt && u->part <= d->domain.nr_parts &&
	       u->mode && u->mode <= LKDF_RW;
}

static __attribute__((noinline)) int
check_use(const struct lkdf *rt, const struct lkdf_use *u, unsigned i)
{
	const struct lkdf_data *d = u->data;
	char text[DATA_TEXT];

	if (!d)
		return err(-EINVAL, "use %u: the data is NULL", i);
	if (d->rt != rt)
		return err(-EINVAL, "use %u: %s %s", i, data_text(d, 0, text),
			   d->rt ? "is of another runtime" : "was put");
	if (u->part > d->domain.nr_parts)
		return err(-ERANGE, "use %u: part %u of %s, which has %u", i,
			   u->part, data_text(d, 0, text), d->domain.nr_parts);
	return check_mode(d, u->mode, i);
}

int uses_check(const struct lkdf *rt, const struct lkdf_use *use, unsigned nr,
	       uint32_t *flags)
{
	unsigned i;
	int rc = 0;

	*flags = 0;
	if (unlikely(nr > LKDF_MAX_USES))
		return err(-E2BIG, "task: %u uses, at most %d", nr,
			   LKDF_MAX_USES);
	if (unlikely(nr && !use))
		return err(-EINVAL, "task: %u uses, but use is NULL", nr);
	for (i = 0; i < nr && !rc; i++) {
		if (unlikely(!is_usual(rt, &use[i])))
			rc = check_use(rt, &use[i], i);
		if (likely(!rc) && !var_is_plain(&use[i].data->domain.whole))
			*flags |= use[i].data->flags;
	}
	return rc;
}
