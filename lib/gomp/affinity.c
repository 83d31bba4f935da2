/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "gomp/affinity.h"

#include "gomp/gomp.h"
#include "gomp/theirs.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FORMAT_SIZE 1024
#define VALUE_SIZE 512
#define FIRST_FORMAT "level %L thread %i affinity %A"

int omp_get_ancestor_thread_num(int level);
size_t omp_capture_affinity(char *buffer, size_t size, const char *format);
int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size,
			      size_t format_size);
void omp_display_affinity(const char *format);
void omp_display_affinity_(const char *format, size_t format_size);

/* ---- values -------------------------------------------------------------- */

static void put_number(char *value, long n)
{
	snprintf(value, VALUE_SIZE, "%ld", n);
}

static void put_teams(char *value)
{
	put_number(value, gomp_self.env.nr_teams);
}

static void put_team(char *value)
{
	put_number(value, gomp_self.env.team_num);
}

static void put_level(char *value)
{
	put_number(value, team_self()->level);
}

static void put_num(char *value)
{
	put_number(value, gomp_self.num);
}

static void put_threads(char *value)
{
	put_number(value, team_self()->nr);
}

static void put_ancestor(char *value)
{
	put_number(value,
		   omp_get_ancestor_thread_num((int)team_self()->level - 1));
}

static void put_host(char *value)
{
	if (gethostname(value, VALUE_SIZE))
		strcpy(value, "node");
	value[VALUE_SIZE - 1] = 0;
}

static void put_process(char *value)
{
	put_number(value, getpid());
}

static void put_thread(char *value)
{
	put_number(value, syscall(SYS_gettid));
}

/* Ranges, as far as there is room for them. */
static void put_cpus(char *value)
{
	size_t used = 0;
	int first, last;
	cpu_set_t set;

	value[0] = 0;
	if (sched_getaffinity(0, sizeof(set), &set))
		return;
	for (first = 0; first < CPU_SETSIZE; first = last + 1) {
		last = first;
		if (!CPU_ISSET(first, &set))
			continue;
		while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &set))
			last++;
		used += (size_t)snprintf(value + used, VALUE_SIZE - used,
					 last > first ? "%s%d-%d" : "%s%d",
					 used ? "," : "", first, last);
		if (used + 16 > VALUE_SIZE)
			return;
	}
}

static const struct field {
	char letter;
	const char *name;
	void (*put)(char *value);
	bool is_number;
} fields[] = {
	{ 't', "team_num", put_team, true },
	{ 'T', "num_teams", put_teams, true },
	{ 'L', "nesting_level", put_level, true },
	{ 'n', "thread_num", put_num, true },
	{ 'N', "num_threads", put_threads, true },
	{ 'a', "ancestor_tnum", put_ancestor, true },
	{ 'H', "host", put_host, false },
	{ 'P', "process_id", put_process, true },
	{ 'i', "native_thread_id", put_thread, true },
	{ 'A', "thread_affinity", put_cpus, false },
};

/* ---- lines --------------------------------------------------------------- */

struct line {
	char *at;
	size_t size, used; /* that it has, and that it takes */
};

static void put_char(struct line *l, char c)
{
	if (l->used < l->size)
		l->at[l->used] = c;
	l->used++;
}

static void put_text(struct line *l, const char *text)
{
	while (*text)
		put_char(l, *text++);
}

static void put_padded(struct line *l, const char *value, size_t width,
		       bool is_right, bool has_zeros)
{
	size_t pad = strlen(value) < width ? width - strlen(value) : 0;

	if (is_right && has_zeros && *value == '-')
		put_char(l, *value++);
	for (; is_right && pad; pad--)
		put_char(l, has_zeros ? '0' : ' ');
	put_text(l, value);
	for (; pad; pad--)
		put_char(l, ' ');
}

/* By its letter, or its name in braces, which *at is moved behind. */
static const struct field *find_field(const char **at)
{
	size_t size = 1, i;
	const char *name = *at;

	if (*name == '{')
		size = strcspn(++name, "}");
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		if (**at == '{' ? strlen(fields[i].name) == size &&
					  !strncmp(name, fields[i].name, size)
				: *name == fields[i].letter)
			break;
	if (**at == '{')
		*at = name + size + (name[size] == '}');
	else
		*at += *name != 0;
	return i < ARRAY_SIZE(fields) ? &fields[i] : NULL;
}

/* [[[0].]size]type, behind the %. */
static const char *put_field(struct line *l, const char *at)
{
	bool has_zeros = at[0] == '0' && at[1] == '.';
	char value[VALUE_SIZE];
	const struct field *f;
	size_t width = 0;
	bool is_right;

	at += has_zeros;
	is_right = *at == '.';
	at += is_right;
	for (; *at >= '0' && *at <= '9' && width < FORMAT_SIZE; at++)
		width = width * 10 + (size_t)(*at - '0');
	f = find_field(&at);
	if (f)
		f->put(value);
	else
		strcpy(value, "undefined");
	put_padded(l, value, width, is_right, f && f->is_number && has_zeros);
	return at;
}

static void put_format(struct line *l, const char *format)
{
	team_self();
	while (*format) {
		if (*format != '%') {
			put_char(l, *format++);
		} else if (format[1] == '%') {
			put_char(l, '%');
			format += 2;
		} else {
			format = put_field(l, format + 1);
		}
	}
}

/* The format that the process has, if none is given. */
static void put_line(struct line *l, const char *format)
{
	const struct theirs *t = theirs_get();
	char own[FORMAT_SIZE] = FIRST_FORMAT;

	if (!format || !*format) {
		if (t->get_affinity_format)
			t->get_affinity_format(own, sizeof(own));
		format = own;
	}
	put_format(l, format);
}

/* ---- calls --------------------------------------------------------------- */

size_t omp_capture_affinity(char *buffer, size_t size, const char *format)
{
	struct line l = { buffer, size, 0 };

	put_line(&l, format);
	if (size)
		buffer[l.used < size ? l.used : size - 1] = 0;
	return l.used;
}

/* Fortran's, which has no end. */
static void copy_format(char *to, const char *format, size_t size)
{
	snprintf(to, FORMAT_SIZE, "%.*s",
		 (int)(size < FORMAT_SIZE ? size : FORMAT_SIZE - 1), format);
}

int32_t omp_capture_affinity_(char *buffer, const char *format, size_t size,
			      size_t format_size)
{
	struct line l = { buffer, size, 0 };
	char own[FORMAT_SIZE];

	copy_format(own, format, format_size);
	put_line(&l, own);
	if (l.used < size)
		memset(buffer + l.used, ' ', size - l.used);
	return (int32_t)l.used;
}

void omp_display_affinity(const char *format)
{
	char text[2 * FORMAT_SIZE];

	omp_capture_affinity(text, sizeof(text), format);
	gomp_write(text);
}

void omp_display_affinity_(const char *format, size_t format_size)
{
	char own[FORMAT_SIZE];

	copy_format(own, format, format_size);
	omp_display_affinity(own);
}

void affinity_show(void)
{
	omp_display_affinity(NULL);
}
