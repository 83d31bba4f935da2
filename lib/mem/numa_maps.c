/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/numa_maps.h"

#include "mem/procfile.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A line: its word, and the sum of the words so far. */
struct line {
	const char *word;
	size_t len;
	struct numa_vma v;
	uint64_t unit; /* bytes; 0: not said */
};

static bool next_word(struct line *l)
{
	const char *s = l->word + l->len;

	while (*s == ' ')
		s++;
	l->word = s;
	l->len = strcspn(s, " ");
	return l->len > 0;
}

static bool is_word(const struct line *l, const char *text)
{
	return l->len == strlen(text) && !memcmp(l->word, text, l->len);
}

static bool line_begins(const struct line *l, const char *text)
{
	return l->len >= strlen(text) && !memcmp(l->word, text, strlen(text));
}

/* Digits up to the end of the word. */
static bool read_number(const struct line *l, size_t at, uint64_t *out)
{
	uint64_t v = 0;

	if (at >= l->len)
		return false;
	for (; at < l->len; at++) {
		if (!isdigit((unsigned char)l->word[at]) ||
		    v > (UINT64_MAX - 9) / 10)
			return false;
		v = v * 10 + (uint64_t)(l->word[at] - '0');
	}
	*out = v;
	return true;
}

static int add_share(struct numa_maps *m, struct line *l, uint32_t node,
		     uint64_t pages)
{
	size_t room = m->shares_room ? 2 * m->shares_room : 64;
	struct numa_share *grown;

	if (m->nr_shares == m->shares_room) {
		grown = realloc(m->share, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->share = grown;
		m->shares_room = room;
	}
	m->share[m->nr_shares++] = (struct numa_share){ node, pages };
	l->v.nr_shares++;
	return 0;
}

/* "N12=345"; nodes ascend. */
static int take_node(struct numa_maps *m, struct line *l)
{
	struct line number = *l;
	const char *equals = memchr(l->word, '=', l->len);
	uint64_t node, pages;

	if (!equals)
		return -EBADMSG;
	number.len = (size_t)(equals - l->word);
	if (!read_number(&number, 1, &node) || node >= NUMA_MAPS_MAX_NODES ||
	    !read_number(l, number.len + 1, &pages))
		return -EBADMSG;
	if (l->v.nr_shares && m->share[m->nr_shares - 1].node >= node)
		return -EBADMSG;
	return add_share(m, l, (uint32_t)node, pages);
}

/* anon=, dirty=, mapped= and those to come. */
static int take_other(const struct line *l)
{
	const char *equals = memchr(l->word, '=', l->len);
	uint64_t number;

	if (!equals || equals == l->word ||
	    !read_number(l, (size_t)(equals - l->word) + 1, &number))
		return -EBADMSG;
	return 0;
}

static int take_word(struct numa_maps *m, struct line *l)
{
	static const char key[] = "kernelpagesize_kB=";

	if (is_word(l, "heap") || is_word(l, "stack") ||
	    line_begins(l, "file="))
		return 0;
	if (is_word(l, "huge")) {
		l->v.is_hugetlb = true;
		return 0;
	}
	if (l->len > 1 && l->word[0] == 'N' &&
	    isdigit((unsigned char)l->word[1]))
		return take_node(m, l);
	if (!line_begins(l, key))
		return take_other(l);
	if (l->unit || !read_number(l, sizeof(key) - 1, &l->unit) || !l->unit ||
	    l->unit > UINT64_MAX / 1024)
		return -EBADMSG;
	l->unit *= 1024;
	return 0;
}

/* "7f0000000000 prefer (many):0-1": the words of the policy are skipped. */
static int take_head(struct line *l)
{
	const char *s;
	char *end;

	if (!isxdigit((unsigned char)l->word[0]))
		return -EBADMSG;
	errno = 0;
	l->v.start = strtoull(l->word, &end, 16);
	if (errno || *end != ' ' || l->word[1] == 'x')
		return -EBADMSG;
	l->len = (size_t)(end - l->word);
	if (!next_word(l) || !islower((unsigned char)l->word[0]))
		return -EBADMSG;
	s = l->word + l->len;
	if ((is_word(l, "prefer") && !strncmp(s, " (many)", 7)) ||
	    (is_word(l, "weighted") && !strncmp(s, " interleave", 11)))
		next_word(l);
	return 0;
}

/* Pages to bytes. */
static int finish_line(struct numa_maps *m, struct line *l)
{
	const uint64_t max = UINT64_MAX >> 1;
	struct numa_share *share;
	uint32_t i;

	if (l->v.nr_shares && !l->unit)
		return -EBADMSG;
	for (i = 0; i < l->v.nr_shares; i++) {
		share = &m->share[l->v.first + i];
		if (share->bytes > max / l->unit)
			return -EBADMSG;
		share->bytes *= l->unit;
		if (share->bytes > max - l->v.bytes)
			return -EBADMSG;
		l->v.bytes += share->bytes;
	}
	return 0;
}

static int take_line(struct numa_maps *m, const char *text, struct line *l)
{
	int rc;

	l->word = text;
	l->v.first = m->nr_shares;
	rc = take_head(l);
	while (!rc && next_word(l))
		rc = take_word(m, l);
	return rc ? rc : finish_line(m, l);
}

int numa_maps_add(struct numa_maps *m, const char *line)
{
	size_t room = m->room ? 2 * m->room : 64, shares = m->nr_shares;
	struct line l = { .word = line };
	struct numa_vma *grown;
	int rc;

	if (m->nr == m->room) {
		grown = realloc(m->v, room * sizeof(*grown));
		if (!grown)
			return -ENOMEM;
		m->v = grown;
		m->room = room;
	}
	rc = take_line(m, line, &l);
	if (rc) {
		m->nr_shares = shares;
		return rc;
	}
	/* Listed twice: it has grown during the read. */
	while (m->nr && m->v[m->nr - 1].start >= l.v.start)
		m->nr--;
	m->v[m->nr++] = l.v;
	return 0;
}

struct reader {
	struct numa_maps *m;
	uint64_t end;
};

static int read_line(void *u, char *line)
{
	struct reader *r = u;
	int rc = numa_maps_add(r->m, line);

	if (rc)
		return rc;
	return r->m->v[r->m->nr - 1].start >= r->end;
}

int numa_maps_read(const char *proc_root, int32_t pid, uint64_t end,
		   struct numa_maps *m)
{
	struct reader r = { m, end };

	return procfile_lines(proc_root, pid, "numa_maps", read_line, &r);
}

const struct numa_vma *numa_maps_find(const struct numa_maps *m, uint64_t start)
{
	size_t from = 0, to = m->nr, at;

	while (from < to) {
		at = from + (to - from) / 2;
		if (m->v[at].start == start)
			return &m->v[at];
		if (m->v[at].start < start)
			from = at + 1;
		else
			to = at;
	}
	return NULL;
}

void numa_maps_fini(struct numa_maps *m)
{
	free(m->v);
	free(m->share);
	*m = (struct numa_maps){ 0 };
}
