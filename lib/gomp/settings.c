/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * OMP_* variables, read once, before main(). A value that is not understood is
 * named in a line, and the default serves.
 */
#include "gomp/gomp.h"
#include "gomp/places.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static struct settings settings;

static void not_understood(const char *name, const char *value)
{
	gomp_say("%s=%s is not understood and not followed", name, value);
}

/* A number, and blanks around it. False: there is none in range. */
static bool read_number(const char *text, char **end, uint64_t least,
			uint64_t most, uint64_t *out)
{
	unsigned long long n;

	while (isspace((unsigned char)*text))
		text++;
	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	n = strtoull(text, end, 10);
	if (errno || n < least || n > most)
		return false;
	while (isspace((unsigned char)**end))
		(*end)++;
	*out = n;
	return true;
}

static void set_number(const char *name, uint64_t most, unsigned *out)
{
	const char *value = secure_getenv(name);
	uint64_t n;
	char *end;

	if (!value)
		return;
	if (read_number(value, &end, 1, most, &n) && !*end)
		*out = (unsigned)n;
	else
		not_understood(name, value);
}

/* False: it is not set, or not understood. */
static bool read_bool(const char *name, bool *out)
{
	const char *value = secure_getenv(name);

	if (!value)
		return false;
	if (!strcasecmp(value, "true") || !strcmp(value, "1"))
		*out = true;
	else if (!strcasecmp(value, "false") || !strcmp(value, "0"))
		*out = false;
	else {
		not_understood(name, value);
		return false;
	}
	return true;
}

static void set_threads(void)
{
	const char *value = secure_getenv("OMP_NUM_THREADS"), *at = value;
	unsigned nr = 0;
	uint64_t n;
	char *end;

	while (at && nr < MAX_LEVELS) {
		if (!read_number(at, &end, 1, INT_MAX, &n) ||
		    (*end && *end != ',')) {
			not_understood("OMP_NUM_THREADS", value);
			return;
		}
		settings.nr_threads[nr++] =
			(unsigned)(n < MAX_THREADS ? n : MAX_THREADS);
		at = *end ? end + 1 : NULL;
	}
	settings.nr_levels = nr;
	settings.env.nr_threads = settings.nr_threads[0];
}

static bool read_schedule(const char *word, size_t size, enum schedule *out)
{
	static const char *const names[] = { "static", "dynamic", "guided",
					     "auto" };
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (size != strlen(names[i]) ||
		    strncasecmp(word, names[i], size) != 0)
			continue;
		*out = (enum schedule)(SCHEDULE_STATIC + i);
		return true;
	}
	return false;
}

/* [modifier:]kind[,chunk] */
static void set_schedule(void)
{
	const char *value = secure_getenv("OMP_SCHEDULE"), *word = value;
	enum schedule schedule;
	uint64_t chunk = 0;
	size_t size;
	char *end;

	if (!value)
		return;
	if (strchr(word, ':'))
		word = strchr(word, ':') + 1;
	while (isspace((unsigned char)*word))
		word++;
	size = strcspn(word, ", \t");
	end = (char *)(uintptr_t)(word + size);
	end += strspn(end, " \t");
	if (!read_schedule(word, size, &schedule) || (*end && *end != ',') ||
	    (*end &&
	     (!read_number(end + 1, &end, 1, INT_MAX, &chunk) || *end))) {
		not_understood("OMP_SCHEDULE", value);
		return;
	}
	settings.env.schedule = schedule;
	settings.env.chunk = chunk;
}

static void set_levels(void)
{
	bool is_nested = false;

	if (read_bool("OMP_NESTED", &is_nested) && is_nested)
		settings.env.max_levels = INT_MAX;
	if (settings.nr_levels > 1)
		settings.env.max_levels = INT_MAX;
	set_number("OMP_MAX_ACTIVE_LEVELS", INT_MAX, &settings.env.max_levels);
}

static void add_option(const char *fmt, const char *value)
{
	size_t at = strlen(settings.options);
	int rc;

	rc = snprintf(settings.options + at, sizeof(settings.options) - at, fmt,
		      value);
	if (rc < 0 || (size_t)rc >= sizeof(settings.options) - at)
		settings.options[at] = 0;
}

/* KiB unless it says otherwise. */
static void add_stack(void)
{
	const char *value = secure_getenv("OMP_STACKSIZE");
	char text[24], *end;
	uint64_t n;
	int shift = 10;

	if (!value)
		return;
	if (!read_number(value, &end, 1, UINT32_MAX, &n))
		end = (char *)"?";
	if (*end) {
		const char *units = "bkmg", *unit;

		unit = strchr(units, tolower((unsigned char)*end));
		if (!unit || end[1]) {
			not_understood("OMP_STACKSIZE", value);
			return;
		}
		shift = (int)(unit - units) * 10;
	}
	n = ((n << shift) + 1023) >> 10;
	snprintf(text, sizeof(text), "%llu",
		 (unsigned long long)(n < 64 ? 64 : n));
	add_option(",stack_kib=%s", text);
}

static void add_wait_policy(void)
{
	const char *value = secure_getenv("OMP_WAIT_POLICY");

	if (!value)
		return;
	if (!strcasecmp(value, "active"))
		add_option("%s", ",spin_us=10000");
	else if (!strcasecmp(value, "passive"))
		add_option("%s", ",spin_us=0");
	else
		not_understood("OMP_WAIT_POLICY", value);
}

/* Sets of places, {0},{2:3}, as one list of CPUs. */
static bool read_places(const char *at, char *list, size_t size)
{
	uint64_t first, nr;
	size_t used = 0;
	char *end;

	while (*at) {
		at += strspn(at, "{, \t");
		nr = 1;
		if (!read_number(at, &end, 0, INT_MAX, &first))
			return false;
		if (*end == ':' && !read_number(end + 1, &end, 1, INT_MAX, &nr))
			return false;
		if (*end != '}' && *end != ',')
			return false;
		used += (size_t)snprintf(list + used, size - used,
					 "%s%llu-%llu", used ? "," : "",
					 (unsigned long long)first,
					 (unsigned long long)(first + nr - 1));
		if (used >= size)
			return false;
		at = end + strspn(end, "}, \t");
	}
	return used > 0;
}

static bool read_bind(const char *word, size_t size, unsigned *out)
{
	static const struct {
		const char *name;
		enum bind bind;
	} rows[] = {
		{ "false", BIND_FALSE },    { "true", BIND_TRUE },
		{ "master", BIND_PRIMARY }, { "primary", BIND_PRIMARY },
		{ "close", BIND_CLOSE },    { "spread", BIND_SPREAD },
	};
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		if (size != strlen(rows[i].name) ||
		    strncasecmp(word, rows[i].name, size) != 0)
			continue;
		*out = rows[i].bind;
		return true;
	}
	return false;
}

/* The list has a word for each level; true and false are for all of them. */
static void set_bind(void)
{
	const char *value = secure_getenv("OMP_PROC_BIND"), *at = value;
	unsigned nr = 0;
	size_t size;

	while (at && nr < MAX_LEVELS) {
		at += strspn(at, " \t");
		size = strcspn(at, ", \t");
		if (!read_bind(at, size, &settings.bind[nr]) ||
		    (nr && settings.bind[nr] <= BIND_TRUE)) {
			not_understood("OMP_PROC_BIND", value);
			return;
		}
		nr++;
		at += size;
		at += strspn(at, " \t");
		at = *at == ',' ? at + 1 : NULL;
	}
	settings.nr_binds = nr;
	settings.env.bind = settings.bind[0];
}

/* Where libgomp is not there to read them: as lkdf binds workers. */
static void set_places(void)
{
	const char *places = secure_getenv("OMP_PLACES");
	char list[256];

	if (!settings.nr_binds &&
	    (places || secure_getenv("GOMP_CPU_AFFINITY")))
		settings.env.bind = BIND_TRUE;
	if (settings.nr_binds || places)
		snprintf(settings.binding, sizeof(settings.binding), ",pin=%s",
			 settings.env.bind == BIND_FALSE ? "no" : "yes");
	if (!places || *places != '{' || places_are_read())
		return;
	if (read_places(places, list, sizeof(list)))
		snprintf(settings.binding, sizeof(settings.binding),
			 ",pin=%s,cpus=\"%s\"",
			 settings.env.bind == BIND_FALSE ? "no" : "yes", list);
	else
		not_understood("OMP_PLACES", places);
}

static void display_all(void)
{
	static const char *const names[] = { "", "STATIC", "DYNAMIC", "GUIDED",
					     "AUTO" };
	const char *value = secure_getenv("OMP_DISPLAY_ENV");
	bool wants = value && !strcasecmp(value, "verbose");

	if (!wants && (!read_bool("OMP_DISPLAY_ENV", &wants) || !wants))
		return;
	gomp_say("OPENMP DISPLAY ENVIRONMENT BEGIN");
	gomp_say("  _OPENMP = '201511'");
	if (settings.env.nr_threads)
		gomp_say("  OMP_NUM_THREADS = '%u'", settings.env.nr_threads);
	else
		gomp_say("  OMP_NUM_THREADS = one for each worker of lkdf");
	gomp_say("  OMP_DYNAMIC = '%s'",
		 settings.env.is_dynamic ? "TRUE" : "FALSE");
	gomp_say("  OMP_SCHEDULE = '%s,%llu'", names[settings.env.schedule],
		 (unsigned long long)settings.env.chunk);
	gomp_say("  OMP_THREAD_LIMIT = '%u'", settings.env.thread_limit);
	gomp_say("  OMP_CANCELLATION = '%s'",
		 settings.cancels ? "TRUE" : "FALSE");
	gomp_say("  OMP_MAX_ACTIVE_LEVELS = '%u'", settings.env.max_levels);
	gomp_say("  options of lkdf = '%s%s'", settings.options,
		 settings.binding);
	gomp_say("OPENMP DISPLAY ENVIRONMENT END");
}

__attribute__((constructor)) static void read_all(void)
{
	settings.env = (struct env){ .schedule = SCHEDULE_DYNAMIC,
				     .chunk = 1,
				     .max_levels = 1 };
	settings.env.thread_limit = MAX_THREADS;
	settings.env.nr_teams = 1;
	set_threads();
	set_schedule();
	set_levels();
	set_number("OMP_THREAD_LIMIT", INT_MAX, &settings.env.thread_limit);
	set_number("OMP_NUM_TEAMS", INT_MAX, &settings.nr_teams);
	set_number("OMP_TEAMS_THREAD_LIMIT", INT_MAX, &settings.teams_limit);
	read_bool("OMP_DYNAMIC", &settings.env.is_dynamic);
	read_bool("OMP_DISPLAY_AFFINITY", &settings.shows_affinity);
	read_bool("OMP_CANCELLATION", &settings.cancels);
	/* Bodies here are OpenMP's own threads. */
	add_option("%s", "omp=no");
	add_stack();
	add_wait_policy();
	set_bind();
	set_places();
	display_all();
}

const struct settings *settings_get(void)
{
	return &settings;
}

unsigned settings_bind(unsigned level)
{
	return level < settings.nr_binds ? settings.bind[level] : UINT_MAX;
}

unsigned settings_threads(unsigned level)
{
	if (!settings.nr_levels)
		return 0;
	return settings.nr_threads[level < settings.nr_levels
					   ? level
					   : settings.nr_levels - 1];
}
