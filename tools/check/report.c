/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/report.h"

#include <stdlib.h>
#include <string.h>

#define MARK "WARNING: ThreadSanitizer: "
#define RULER "=================="

/* The text between the first a and the next b behind it; "" where there is
 * none. */
static const char *between(const char *text, const char *a, const char *b,
			   char *to, size_t size)
{
	const char *begin = strstr(text, a), *end;

	to[0] = '\0';
	if (!begin)
		return NULL;
	begin += strlen(a);
	end = strstr(begin, b);
	if (!end)
		return NULL;
	snprintf(to, size, "%.*s", (int)(end - begin), begin);
	return end;
}

/* The name of "thread T12", which a line below the stacks has. */
static void name_of(const char *text, const char *thread, char *to)
{
	char head[96];

	if (!strncmp(thread, "main thread", 11)) {
		snprintf(to, REPORT_NAME, "the main thread");
		return;
	}
	snprintf(head, sizeof(head), "\n  Thread %s '", thread + 7);
	if (!between(text, head, "' (tid", to, REPORT_NAME))
		snprintf(to, REPORT_NAME, "%s of the program", thread);
}

/* A line "... by thread T3 (mutexes: write M1):". Returns what is behind it.
 */
static const char *read_side(const char *text, const char *at, char *name,
			     char *held, size_t size)
{
	const char *by = strstr(at, " by "),
		   *end = by ? strchr(by, '\n') : NULL;
	char thread[64];
	size_t n;

	held[0] = '\0';
	if (!end)
		return NULL;
	by += 4;
	n = strcspn(by, "(:\n");
	while (n && by[n - 1] == ' ')
		n--;
	snprintf(thread, sizeof(thread), "%.*s", (int)n, by);
	name_of(text, thread, name);
	if (by + n < end)
		snprintf(held, size, "%.*s", (int)(end - by - (long)n), by + n);
	return end;
}

/* Both sides have one "M17". */
static bool share_mutex(char *a, const char *b)
{
	char *word, *rest = NULL, *at;
	size_t n;

	for (word = strtok_r(a, " ,:()", &rest); word;
	     word = strtok_r(NULL, " ,:()", &rest)) {
		n = strlen(word);
		if (word[0] != 'M' || strspn(word + 1, "0123456789") != n - 1)
			continue;
		for (at = strstr(b, word); at; at = strstr(at + n, word))
			if (at[n] < '0' || at[n] > '9')
				return true;
	}
	return false;
}

bool report_read(char *text, struct report *r)
{
	char held[2][REPORT_NAME];
	const char *at = strstr(text, MARK);

	memset(r, 0, sizeof(*r));
	if (!at)
		return false;
	r->is_race = !strncmp(at + strlen(MARK), "data race", 9);
	between(text,
		r->is_race ? "SUMMARY: ThreadSanitizer: data race "
			   : "SUMMARY: ThreadSanitizer: ",
		"\n", r->place, sizeof(r->place));
	if (!r->is_race)
		return true;
	at = read_side(text, at, r->first, held[0], sizeof(held[0]));
	if (at)
		at = strstr(at, "\n  Previous ");
	if (at)
		at = read_side(text, at + 1, r->second, held[1],
			       sizeof(held[1]));
	r->is_none = strstr(text, "Location is TLS") ||
		     (at && share_mutex(held[0], held[1]));
	return true;
}

/* ---- telling ------------------------------------------------------------ */

static bool is_graph(const char *who)
{
	return strstr(who, " of graph ") != NULL;
}

static bool is_main(const char *who)
{
	return !strcmp(who, "the main thread");
}

/* The call that would order the two. */
static const char *advice_of(const struct report *r)
{
	if (is_main(r->first) || is_main(r->second))
		return "lkdf_event_wait() or lkdf_scope_wait() before the main "
		       "thread goes on";
	if (is_graph(r->first) && is_graph(r->second))
		return "lkdf_graph_order() between the two, or uses of one data";
	if (!strncmp(r->first, "child", 5) || !strncmp(r->second, "child", 5))
		return "lkdf_join() or lkdf_then() in the body above, or uses "
		       "of one data";
	if (!strncmp(r->first, "block", 5))
		return "bytes of its own for each block, or lkdf_reduce()";
	return "uses of one data, or .after with the event of the first";
}

static int find_pair(const struct reports *all, const char *key)
{
	unsigned i;

	for (i = 0; i < all->nr_seen; i++)
		if (!strcmp(all->seen[i], key))
			return (int)i;
	return -1;
}

/* True: it is new. */
static bool note_pair(struct reports *all, const char *key)
{
	int at = find_pair(all, key);

	if (at >= 0) {
		all->count[at]++;
		return false;
	}
	all->seen = realloc(all->seen, (all->nr_seen + 1) * sizeof(*all->seen));
	all->count =
		realloc(all->count, (all->nr_seen + 1) * sizeof(*all->count));
	if (!all->seen || !all->count)
		abort();
	snprintf(all->seen[all->nr_seen], sizeof(*all->seen), "%s", key);
	all->count[all->nr_seen++] = 1;
	return true;
}

static void tell_one(struct reports *all, char *text, FILE *out)
{
	struct report r;

	if (!report_read(text, &r))
		return;
	if (r.is_none) {
		all->nr_none++;
		return;
	}
	all->nr++;
	/* A pair of functions at a place counts once. */
	if (!note_pair(all, r.place))
		return;
	if (r.is_race)
		fprintf(out,
			"lkdf check: race: %s and %s, at %s\n"
			"lkdf check: give them an order: %s\n",
			r.second[0] ? r.second : "another one", r.first,
			r.place, advice_of(&r));
	else
		fprintf(out, "lkdf check: the sanitizer says: %s\n", r.place);
	fputs(text, out);
	fputc('\n', out);
}

void reports_tell(struct reports *all, char *log, FILE *out)
{
	char *at = log, *next;

	while (at) {
		next = strstr(at, RULER);
		if (next) {
			*next = '\0';
			next += strlen(RULER);
		}
		tell_one(all, at, out);
		at = next;
	}
}

void reports_end(struct reports *all, FILE *out)
{
	unsigned i;

	for (i = 0; i < all->nr_seen; i++)
		if (all->count[i] > 1)
			fprintf(out, "lkdf check: %u times: %s\n",
				all->count[i], all->seen[i]);
	if (all->nr_none)
		fprintf(out,
			"lkdf check: %u reports left out: their sides hold one "
			"lock, or the bytes are a thread's own\n",
			all->nr_none);
	free(all->seen);
	free(all->count);
}
