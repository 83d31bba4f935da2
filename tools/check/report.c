/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/report.h"
#include "check/noted.h"

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

/* The number in hexadecimal digits behind the text; 0: there is none. */
static unsigned long number_behind(const char *text, const char *what)
{
	const char *at = strstr(text, what);

	return at ? strtoul(at + strlen(what), NULL, 16) : 0;
}

/* An access of the report. */
struct side {
	char thread[64]; /* "main thread" or "thread T12" */
	char held[REPORT_NAME]; /* "(mutexes: write M1)" */
	const char *stack; /* its first line; NULL: there is none */
	bool is_fiber; /* of lkdf: a body, or work elsewhere */
};

static bool is_main_thread(const struct side *s)
{
	return !strncmp(s->thread, "main thread", 11);
}

/* The lines below the stacks that tell of the thread; NULL: there are none. */
static const char *about(const char *text, const struct side *s)
{
	char head[96];

	if (strncmp(s->thread, "thread ", 7))
		return NULL;
	snprintf(head, sizeof(head), "\n  Thread %s ", s->thread + 7);
	text = strstr(text, head);
	return text ? text + strlen(head) : NULL;
}

/* A fiber has a name, and no number in the kernel. */
static bool name_of(const char *text, const struct side *s, char *to)
{
	const char *line = about(text, s), *end;

	if (is_main_thread(s)) {
		snprintf(to, REPORT_NAME, "the main thread");
		return false;
	}
	end = line && *line == '\''
		      ? between(line, "'", "' (tid=", to, REPORT_NAME)
		      : NULL;
	if (end && !strncmp(end + strlen("' (tid="), "0,", 2))
		return true;
	snprintf(to, REPORT_NAME, "%s of the program", s->thread);
	return false;
}

/* A line "... by thread T3 (mutexes: write M1):". False: it is none. */
static bool read_side(const char *at, struct side *s)
{
	const char *by = strstr(at, " by "),
		   *end = by ? strchr(by, '\n') : NULL;
	size_t n;

	if (!end)
		return false;
	by += 4;
	n = strcspn(by, "(:\n");
	while (n && by[n - 1] == ' ')
		n--;
	snprintf(s->thread, sizeof(s->thread), "%.*s", (int)n, by);
	if (by + n < end)
		snprintf(s->held, sizeof(s->held), "%.*s",
			 (int)(end - by - (long)n), by + n);
	s->stack = end + 1;
	return true;
}

/* ---- what need not be so ------------------------------------------------ */

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

/* With clang functions that the sanitizer intercepts are in the program. */
static bool is_intercepted(const char *line)
{
	static const char *const names[] = {
		"memcpy",  "memmove", "memset",
		"memcmp",  "memchr",  "strlen",
		"strcpy",  "strncpy", "strcmp",
		"strcat",  "read",    "write",
		"pread",   "pwrite",  "readv",
		"writev",  "recv",    "send",
		"recvmsg", "sendmsg", "fread",
		"fwrite",  "free",    "realloc",
		"puts",	   "qsort",   "pthread_mutex_lock",
	};
	char head[64];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(head, sizeof(head), "#0 %s <null> (", names[i]);
		if (strstr(line, head))
			return true;
	}
	return strstr(line, "libsanitizer/") || strstr(line, " __interceptor_");
}

/* It is the sanitizer's own, the library's, or libc's, or has no line. */
static bool is_outside(const char *frame, size_t size)
{
	char line[REPORT_NAME];
	const char *module;

	snprintf(line, sizeof(line), "%.*s", (int)size, frame);
	module = strrchr(line, '(');
	if (module && !strncmp(module, "(BuildId", 8)) {
		line[module - line] = '\0';
		module = strrchr(line, '(');
	}
	if (!module)
		return false;
	if (is_intercepted(line))
		return true;
	if (!strstr(module, ".so"))
		return false;
	return strstr(module, "libtsan.so") || strstr(module, "liblkdf.so") ||
	       strstr(module, "libc.so") || strstr(line, "<null> (");
}

/*
 * The program is nowhere on the stack: a library that is not compiled for the
 * sanitizer touches the bytes, and may order that by what is not seen.
 */
static bool is_of_library(const struct side *s)
{
	const char *stack = s->stack;
	bool has_frame = false;
	size_t n;

	for (; stack && !strncmp(stack, "    #", 5); stack += n + 1) {
		n = strcspn(stack, "\n");
		/* lkdf touches bytes for an operation. */
		if (!is_outside(stack, n) ||
		    (s->is_fiber && memmem(stack, n, "liblkdf.so", 10)))
			return false;
		has_frame = true;
		if (!stack[n])
			break;
	}
	return has_frame;
}

/* A body has started it: on the stack of that, below a fiber, is liblkdf. */
static bool is_started_by_body(const char *text, const struct side *s)
{
	const char *line = about(text, s), *by, *end;
	char stack[16 * REPORT_NAME];

	if (!line || *line == '\'')
		return false;
	end = strstr(line, "\n\n");
	snprintf(stack, sizeof(stack), "%.*s",
		 (int)(end ? end - line : (long)strlen(line)), line);
	by = strstr(stack, "created by ");
	return by && strncmp(by, "created by main", 15) &&
	       strstr(by, "liblkdf.so");
}

/* A count of references is an atomic of the program, which bodies do not hear.
 */
static bool is_last_put(const char *stack)
{
	static const char *const puts[] = {
		"std::_Sp_counted_base<",
		"::__shared_weak_count::",
		"lk::detail::result_base::put(",
	};
	const char *end = stack ? strstr(stack, "\n\n") : NULL, *at;
	size_t i;

	for (i = 0; end && i < sizeof(puts) / sizeof(puts[0]); i++) {
		at = strstr(stack, puts[i]);
		if (at && at < end)
			return true;
	}
	return false;
}

static enum report_none why_none(const struct reports *all, const char *text,
				 const char *at, struct side side[2])
{
	int i;

	if (strstr(text, "Location is TLS"))
		return NONE_OWN;
	if (side[0].is_fiber && side[1].is_fiber &&
	    notes_have_copy(all->notes, number_behind(at, " at 0x")))
		return NONE_COPY;
	if (share_mutex(side[0].held, side[1].held))
		return NONE_LOCK;
	for (i = 0; i < 2; i++) {
		if (is_of_library(&side[i]))
			return NONE_LIBRARY;
		if (all->hears_atomics)
			continue;
		if (is_started_by_body(text, &side[i]))
			return NONE_STARTED;
		if (is_last_put(side[i].stack))
			return NONE_COUNTED;
	}
	return NONE_NOT;
}

/* ---- whose bytes -------------------------------------------------------- */

/* The block of the heap that the bytes are in; 0: they are in none. */
static unsigned long find_block(const char *text)
{
	const char *at = strstr(text, "Location is heap block of size ");

	return at ? number_behind(at, " at 0x") : 0;
}

/* Labels of bytes that are gone may be of others, too: the last one counts. */
static void find_label(const char *notes, const char *text, const char *at,
		       struct report *r)
{
	unsigned long address = number_behind(at, " at 0x"), begin, size;
	unsigned long block = find_block(text);
	char label[REPORT_NAME];

	for (notes = notes ? strstr(notes, "bytes\t") : NULL; notes;
	     notes = strstr(notes + 1, "\nbytes\t")) {
		notes += *notes == '\n';
		if (sscanf(notes, "bytes\t%319[^\t\n]\t%lx\t%lu", label, &begin,
			   &size) == 3 &&
		    (size ? address - begin < size : begin == block))
			snprintf(r->label, sizeof(r->label), "%s", label);
	}
}

static void read_race(const struct reports *all, const char *text,
		      const char *at, struct report *r)
{
	struct side side[2] = { 0 };

	const char *first = at;

	if (!read_side(at, &side[0]))
		return;
	find_label(all->notes, text, at, r);
	side[0].is_fiber = name_of(text, &side[0], r->first);
	at = strstr(at, "\n  Previous ");
	if (at && read_side(at + 1, &side[1]))
		side[1].is_fiber = name_of(text, &side[1], r->second);
	r->none = why_none(all, text, first, side);
}

bool report_read(const struct reports *all, const char *text, struct report *r)
{
	const char *at = strstr(text, MARK);

	memset(r, 0, sizeof(*r));
	if (!at)
		return false;
	r->is_race = !strncmp(at + strlen(MARK), "data race", 9);
	between(text,
		r->is_race ? "SUMMARY: ThreadSanitizer: data race "
			   : "SUMMARY: ThreadSanitizer: ",
		"\n", r->place, sizeof(r->place));
	if (r->is_race)
		read_race(all, text, at, r);
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

/* Uses of one data, whose name is the label. */
static void advise_uses(const struct report *r, const char * or, char *to,
			size_t size)
{
	if (r->label[0])
		snprintf(to, size, "both say how they use \"%s\", %s", r->label,
			 or);
	else
		snprintf(to, size, "uses of one data, %s", or);
}

/* The call that would order the two. */
static void advise(struct report *r)
{
	const size_t size = sizeof(r->advice);
	char *to = r->advice;
	unsigned port;

	if (sscanf(r->label, "port %u of", &port) == 1)
		snprintf(to, size,
			 "tasks that get the value only read it; who changes "
			 "it hands on one of its own with lkdf_pass()");
	else if (is_main(r->first) || is_main(r->second))
		snprintf(to, size,
			 "lkdf_event_wait() or lkdf_scope_wait() before the "
			 "main thread goes on");
	else if (is_graph(r->first) && is_graph(r->second))
		advise_uses(r, "or lkdf_graph_order() between the two", to,
			    size);
	else if (!strncmp(r->first, "child", 5) ||
		 !strncmp(r->second, "child", 5))
		advise_uses(r,
			    "or lkdf_join() or lkdf_then() in the body above",
			    to, size);
	else if (!strncmp(r->first, "block", 5))
		snprintf(to, size,
			 "bytes of its own for each block, or lkdf_reduce()");
	else
		advise_uses(r, "or .after with the event of the first", to,
			    size);
}

/* The kind of a task of a graph, or who it is without its number. */
static void kind_of(const char *who, char *to, size_t size)
{
	const char *kind = strstr(who, ", kind ");
	char *end;

	snprintf(to, size, "%s", kind ? kind + 2 : who);
	end = strstr(to, ", or one before it");
	if (end)
		*end = '\0';
}

/* The two kinds in one order, and the place. */
static void key_of(const struct report *r, char *key, size_t size)
{
	char a[REPORT_NAME], b[REPORT_NAME];
	bool is_swapped;

	kind_of(r->first, a, sizeof(a));
	kind_of(r->second, b, sizeof(b));
	is_swapped = strcmp(a, b) < 0;
	snprintf(key, size, "%s and %s, at %s", is_swapped ? a : b,
		 is_swapped ? b : a, r->place);
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
static bool note_pair(struct reports *all, const char *key,
		      const struct report *r)
{
	int at = find_pair(all, key);

	if (at >= 0) {
		all->count[at]++;
		return false;
	}
	all->seen = realloc(all->seen, (all->nr_seen + 1) * sizeof(*all->seen));
	all->count =
		realloc(all->count, (all->nr_seen + 1) * sizeof(*all->count));
	all->report =
		realloc(all->report, (all->nr_seen + 1) * sizeof(*all->report));
	if (!all->seen || !all->count || !all->report)
		abort();
	all->report[all->nr_seen] = *r;
	snprintf(all->seen[all->nr_seen], sizeof(*all->seen), "%s", key);
	all->count[all->nr_seen++] = 1;
	return true;
}

/* The sanitizer itself could not go on, and ended the program. */
static void tell_failure(struct reports *all, const char *text, FILE *out)
{
	if (!strstr(text, "FATAL: ThreadSanitizer") &&
	    !strstr(text, "ThreadSanitizer: CHECK failed") &&
	    !strstr(text, "ERROR: ThreadSanitizer"))
		return;
	all->nr_failed++;
	fprintf(out, "lkdf check: the sanitizer gave up:\n%s\n", text);
}

static void tell_one(struct reports *all, const char *text, FILE *out)
{
	char key[4 * REPORT_NAME];
	struct report r;

	if (!report_read(all, text, &r)) {
		tell_failure(all, text, out);
		return;
	}
	if (r.none) {
		all->nr_none[r.none]++;
		return;
	}
	all->nr++;
	/* A pair of kinds at a place counts once. */
	key_of(&r, key, sizeof(key));
	advise(&r);
	if (!note_pair(all, r.is_race ? key : r.place, &r))
		return;
	if (r.is_race)
		fprintf(out,
			"lkdf check: race: %s and %s, %s%s%sat %s\n"
			"lkdf check: give them an order: %s\n",
			r.second[0] ? r.second : "another one", r.first,
			r.label[0] ? "in \"" : "", r.label,
			r.label[0] ? "\", " : "", r.place, r.advice);
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
	for (i = 0; i < NR_NONE; i++)
		if (all->nr_none[i])
			fprintf(out, "lkdf check: reports left out, %u: %s\n",
				all->nr_none[i],
				report_why((enum report_none)i));
	free(all->seen);
	free(all->count);
	free(all->report);
}
