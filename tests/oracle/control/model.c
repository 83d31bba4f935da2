/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/control/program.h"

#include "tests/oracle/control/data.h"

#include <errno.h>
#include <lkdf/lkdf.h>
#include <string.h>

enum {
	LIVE,
	UNCHOSEN,
	FAILED
};

#define MAX_LOOPS 8
#define OUTSIDE -1

struct region {
	int head;
	bool has[MAX_TASKS];
};

struct model {
	const struct program *p; /* with_data */
	struct program with_data; /* and edges that come of data */
	bool reaches[MAX_TASKS][MAX_TASKS];
	struct region loop[MAX_LOOPS];
	int nr_loops;

	/* One run: what is told to each task since it was last resolved. */
	int told[MAX_EDGES]; /* -1: nothing yet */
	int entry[MAX_LOOPS];
	bool back[MAX_LOOPS], leaves[MAX_LOOPS], bad[MAX_LOOPS];
	bool is_resolved[MAX_TASKS]; /* in this iteration */
	bool was_taken[MAX_EDGES];
	bool is_live[MAX_EDGES]; /* for those who read its value */
	uint64_t *out;
	struct story *story;
	int run;
	bool has_left[MAX_TASKS]; /* has failed, and left its MAYBE as it was */
	int ready[256], verdict[256], nr_ready;
};

/* ---- which loops there are ---------------------------------------------- */

static void find_reach(struct model *m)
{
	int n = m->p->nr_tasks, i, u, v;

	for (u = 0; u < n; u++)
		m->reaches[u][u] = true;
	for (i = 0; i < m->p->nr_edges; i++)
		if (!m->p->edge[i].is_back)
			m->reaches[m->p->edge[i].from][m->p->edge[i].to] = true;
	for (i = 0; i < n; i++)
		for (u = 0; u < n; u++)
			for (v = 0; v < n; v++)
				m->reaches[u][v] |=
					m->reaches[u][i] && m->reaches[i][v];
}

static void find_heads(struct model *m)
{
	int i, l;

	for (i = 0; i < m->p->nr_edges; i++) {
		if (!m->p->edge[i].is_back)
			continue;
		for (l = 0; l < m->nr_loops; l++)
			if (m->loop[l].head == m->p->edge[i].to)
				break;
		if (l == m->nr_loops)
			m->loop[m->nr_loops++].head = m->p->edge[i].to;
	}
}

/* Tasks between the head and t belong to the loop. */
static bool add_between(struct model *m, struct region *l, int t)
{
	bool is_new = false;
	int x;

	for (x = 0; x < m->p->nr_tasks; x++) {
		if (l->has[x] || !m->reaches[l->head][x] || !m->reaches[x][t])
			continue;
		l->has[x] = is_new = true;
	}
	return is_new;
}

static void find_members(struct model *m)
{
	bool changes = true;
	int i, l, k, x;

	while (changes) {
		changes = false;
		for (i = 0; i < m->p->nr_edges; i++)
			for (l = 0; l < m->nr_loops; l++)
				if (m->p->edge[i].is_back &&
				    m->p->edge[i].to == m->loop[l].head)
					changes |=
						add_between(m, &m->loop[l],
							    m->p->edge[i].from);
		for (l = 0; l < m->nr_loops; l++)
			for (k = 0; k < m->nr_loops; k++)
				for (x = 0; x < m->p->nr_tasks; x++)
					if (k != l && m->loop[k].has[x] &&
					    m->loop[l].has[m->loop[k].head] &&
					    !m->loop[l].has[x])
						changes |= add_between(
							m, &m->loop[l], x);
	}
}

/* Tasks of a that are in b, too; and whether that is all of a. */
static int common(const struct model *m, int a, int b, bool *all)
{
	int x, nr = 0;

	*all = true;
	for (x = 0; x < m->p->nr_tasks; x++) {
		nr += m->loop[a].has[x] && m->loop[b].has[x];
		*all &= !m->loop[a].has[x] || m->loop[b].has[x];
	}
	return nr;
}

static int size_of(const struct model *m, int l)
{
	bool all;

	return common(m, l, l, &all);
}

/* The innermost loop with u and, where v is a task, without v. */
static int innermost(const struct model *m, int u, int v)
{
	int l, best = OUTSIDE;

	for (l = 0; l < m->nr_loops; l++)
		if (m->loop[l].has[u] && (v < 0 || !m->loop[l].has[v]) &&
		    (best < 0 || size_of(m, l) < size_of(m, best)))
			best = l;
	return best;
}

/* The outermost loop with u and without v. */
static int outermost(const struct model *m, int u, int v)
{
	int l, best = OUTSIDE;

	for (l = 0; l < m->nr_loops; l++)
		if (m->loop[l].has[u] && !m->loop[l].has[v] &&
		    (best < 0 || size_of(m, l) > size_of(m, best)))
			best = l;
	return best;
}

/* Tasks, and the ends of loops: does any wait for itself? */
static bool waits_for_itself(const struct model *m)
{
	enum {
		NODES = MAX_TASKS + MAX_LOOPS
	};
	static bool before[NODES][NODES];
	int i, u, v, x, l;

	memset(before, 0, sizeof(before));
	for (i = 0; i < m->p->nr_edges; i++) {
		const struct edge *e = &m->p->edge[i];

		if (e->is_back)
			continue;
		l = outermost(m, e->from, e->to);
		x = outermost(m, e->to, e->from);
		before[l == OUTSIDE ? e->from : MAX_TASKS + l]
		      [x == OUTSIDE ? e->to : m->loop[x].head] = true;
	}
	for (l = 0; l < m->nr_loops; l++)
		for (x = 0; x < m->p->nr_tasks; x++)
			if (m->loop[l].has[x])
				before[x][MAX_TASKS + l] = true;
	for (i = 0; i < NODES; i++)
		for (u = 0; u < NODES; u++)
			for (v = 0; v < NODES; v++)
				before[u][v] |= before[u][i] && before[i][v];
	for (u = 0; u < NODES; u++)
		if (before[u][u])
			return true;
	return false;
}

static int check_loops(const struct model *m)
{
	const struct edge *e = m->p->edge;
	bool is_in, is_out, left_a, left_b;
	int i, k, l;

	for (i = 0; i < m->p->nr_edges; i++)
		if (e[i].is_back && !m->reaches[e[i].to][e[i].from])
			return -EINVAL;
	for (l = 0; l < m->nr_loops; l++)
		for (k = 0; k < l; k++)
			if (common(m, l, k, &is_in) &&
			    (common(m, k, l, &is_out), !is_in && !is_out))
				return -ELOOP;
	for (i = 0; i < m->p->nr_edges; i++) {
		l = outermost(m, e[i].to, e[i].from);
		if (!e[i].is_back && e[i].branch >= 0 && l != OUTSIDE &&
		    m->loop[l].head != e[i].to)
			return -ELOOP;
	}
	if (waits_for_itself(m))
		return -ELOOP;
	for (i = 0; i < m->p->nr_edges; i++)
		for (k = 0; k < i; k++) {
			if (e[i].branch < 0 || e[k].branch < 0 ||
			    e[i].from != e[k].from ||
			    e[i].branch != e[k].branch)
				continue;
			left_a = outermost(m, e[i].from, e[i].to) != OUTSIDE;
			left_b = outermost(m, e[k].from, e[k].to) != OUTSIDE;
			if (left_a != left_b ||
			    outermost(m, e[i].from, e[i].to) !=
				    outermost(m, e[k].from, e[k].to))
				return -EINVAL;
		}
	return 0;
}

/* ---- one run ------------------------------------------------------------ */

/* Where an edge counts: at its target, or at the head it enters by. */
static int target_of(const struct model *m, int i)
{
	const struct edge *e = &m->p->edge[i];
	int l = outermost(m, e->to, e->from);

	return l == OUTSIDE ? e->to : m->loop[l].head;
}

static bool counts(const struct model *m, int i)
{
	return m->p->edge[i].branch >= 0 || m->p->is_any[target_of(m, i)];
}

static void make_ready(struct model *m, int t, int verdict)
{
	m->ready[m->nr_ready] = t;
	m->verdict[m->nr_ready++] = verdict;
}

/* Once all edges to the task are told. */
static void resolve(struct model *m, int t)
{
	int i, nr_live = 0, nr_lost = 0, nr_counts = 0, verdict = LIVE;
	bool unchosen = false, failed = false;

	for (i = 0; i < m->p->nr_edges; i++) {
		if (m->p->edge[i].is_back || target_of(m, i) != t)
			continue;
		if (m->told[i] < 0)
			return;
		if (counts(m, i)) {
			nr_counts++;
			nr_live += m->told[i] == LIVE;
			nr_lost += m->told[i] == FAILED;
		} else {
			unchosen |= m->told[i] == UNCHOSEN;
			failed |= m->told[i] == FAILED;
		}
	}
	if (unchosen || (nr_counts && !nr_live && !nr_lost))
		verdict = UNCHOSEN;
	else if (failed || (nr_counts && !nr_live))
		verdict = FAILED;
	for (i = 0; i < m->p->nr_edges; i++)
		if (!m->p->edge[i].is_back && target_of(m, i) == t)
			m->told[i] = -1;
	make_ready(m, t, verdict);
}

/* Over an edge of data. */
static int passed(const struct model *m, int i, int verdict)
{
	const struct edge *e = &m->p->edge[i];

	if (!e->is_data || verdict == LIVE)
		return verdict;
	if (verdict == UNCHOSEN || e->is_soft)
		return LIVE;
	return e->is_maybe && m->has_left[e->from] ? LIVE : FAILED;
}

static void tell(struct model *m, int i, int verdict)
{
	verdict = passed(m, i, verdict);
	m->told[i] = verdict;
	m->is_live[i] = verdict == LIVE;
	resolve(m, target_of(m, i));
}

static bool all_resolved(const struct model *m, int l)
{
	int x;

	for (x = 0; x < m->p->nr_tasks; x++)
		if (m->loop[l].has[x] && !m->is_resolved[x])
			return false;
	return true;
}

static int parent_of(const struct model *m, int l)
{
	int k, best = OUTSIDE;
	bool all;

	for (k = 0; k < m->nr_loops; k++)
		if (k != l && common(m, l, k, &all) && all &&
		    (best < 0 || size_of(m, k) < size_of(m, best)))
			best = k;
	return best;
}

/* All members are resolved: another iteration, or the end. */
static void end_loop(struct model *m, int l)
{
	bool again = m->back[l] && !m->leaves[l] && !m->bad[l] &&
		     m->entry[l] == LIVE;
	bool bad = m->bad[l], taken[MAX_EDGES];
	int parent = parent_of(m, l), entry = m->entry[l], i, x, verdict;

	m->back[l] = m->leaves[l] = m->bad[l] = false;
	m->entry[l] = LIVE;
	if (again) {
		for (x = 0; x < m->p->nr_tasks; x++)
			if (m->loop[l].has[x])
				m->is_resolved[x] = false;
		make_ready(m, m->loop[l].head, LIVE);
		return;
	}
	if (parent != OUTSIDE)
		m->bad[parent] |= bad;
	for (i = 0; i < m->p->nr_edges; i++)
		m->is_live[i] &= !m->p->edge[i].is_back ||
				 m->p->edge[i].to != m->loop[l].head;
	memcpy(taken, m->was_taken, sizeof(taken));
	for (i = 0; i < m->p->nr_edges; i++) {
		const struct edge *e = &m->p->edge[i];

		if (outermost(m, e->from, e->to) != l)
			continue;
		m->was_taken[i] = false;
		verdict = entry != LIVE			? entry
			  : bad				? FAILED
			  : e->branch >= 0 && !taken[i] ? UNCHOSEN
							: LIVE;
		m->is_live[i] = verdict == LIVE;
		if (e->is_back)
			m->back[parent] |= verdict == LIVE;
		else
			tell(m, i, verdict);
	}
	if (parent != OUTSIDE && all_resolved(m, parent))
		end_loop(m, parent);
}

/* The first live value, and one of its own. */
static void call(struct model *m, int t)
{
	const struct edge *e = m->p->edge;
	const uint64_t *in = NULL;
	int n = m->story->calls[t], i;

	for (i = 0; i < m->p->nr_edges && !in; i++)
		if (e[i].to == t && e[i].has_value && m->is_live[i])
			in = &m->out[e[i].from];
	m->story->seen[t] = program_see(m->story->seen[t], n, in);
	data_call(&(struct call){ m->p, m->run, t, n }, m->story->word,
		  &m->story->seen[t]);
	m->out[t] = program_out(m->p, m->run, t, n);
}

static void finish(struct model *m, int t, int verdict)
{
	bool runs =
		verdict == LIVE || (verdict == FAILED && m->p->is_always[t]);
	int l = innermost(m, t, -1), value = 0, i, out = verdict, left, k;
	struct call now;

	m->is_resolved[t] = true;
	m->has_left[t] = false;
	m->story->nr_unchosen += !runs && verdict == UNCHOSEN;
	m->story->nr_skipped += !runs && verdict == FAILED;
	if (runs) {
		call(m, t);
		now = (struct call){ m->p, m->run, t, m->story->calls[t]++ };
		value = program_value(m->p, m->run, t, now.n);
		m->has_left[t] = value < 0 && data_leaves(&now);
		out = value < 0 ? FAILED : LIVE;
		m->story->has_failed |= value < 0;
	}
	if (l != OUTSIDE && m->loop[l].head == t && verdict != LIVE && !runs)
		m->entry[l] = verdict;
	if (l != OUTSIDE && out == FAILED)
		m->bad[l] = true;
	for (i = 0; i < m->p->nr_edges; i++) {
		const struct edge *e = &m->p->edge[i];
		bool taken = out == LIVE && program_takes(value, e->branch);

		if (e->from != t)
			continue;
		left = outermost(m, e->from, e->to);
		if (left != OUTSIDE) {
			if (e->branch < 0 || !taken)
				continue;
			m->was_taken[i] = true;
			for (k = 0; k < m->nr_loops; k++)
				m->leaves[k] |= m->loop[k].has[t] &&
						!m->loop[k].has[e->to];
		} else if (e->is_back) {
			m->back[l] |= taken;
			m->is_live[i] = taken;
		} else {
			tell(m, i,
			     out != LIVE	      ? out
			     : e->branch < 0 || taken ? LIVE
						      : UNCHOSEN);
		}
	}
	if (l != OUTSIDE && all_resolved(m, l))
		end_loop(m, l);
}

/* A member that only data leads to does not begin before its loop. */
static void add_entries(struct model *m)
{
	bool has_edge[MAX_TASKS] = { false };
	int i, t, l, nr = m->p->nr_edges;

	for (i = 0; i < nr; i++)
		if (!m->p->edge[i].is_back && !m->p->edge[i].is_data)
			has_edge[target_of(m, i)] = true;
	for (t = 0; t < m->p->nr_tasks; t++) {
		l = innermost(m, t, -1);
		if (l != OUTSIDE && m->loop[l].head == t)
			l = parent_of(m, l);
		if (l != OUTSIDE && !has_edge[t])
			m->with_data.edge[m->with_data.nr_edges++] =
				(struct edge){
					.from = m->loop[l].head,
					.to = t,
					.branch = -1,
				};
	}
}

static void start(struct model *m, const struct program *p, int run)
{
	memset(m, 0, sizeof(*m));
	m->with_data = *p;
	m->p = &m->with_data;
	m->run = run;
	data_edges(&m->with_data);
	find_reach(m);
	find_heads(m);
	find_members(m);
}

int model_run(const struct program *p, int run, uint64_t *out, struct story *s)
{
	static struct model m;
	int rc, t, i;

	start(&m, p, run);
	memset(s, 0, sizeof(*s));
	data_first(p, s->word);
	m.story = s;
	m.out = out;
	rc = check_loops(&m);
	if (rc)
		return rc;
	add_entries(&m);
	for (i = 0; i < m.p->nr_edges; i++)
		m.told[i] = -1;
	for (t = 0; t < p->nr_tasks; t++)
		resolve(&m, t);
	while (m.nr_ready) {
		m.nr_ready--;
		finish(&m, m.ready[m.nr_ready], m.verdict[m.nr_ready]);
	}
	return 0;
}
