/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/bench/ranks/sim.h"

#include <stdlib.h>
#include <string.h>

#define NONE UINT32_MAX

/* A task, or a message: nodes from nr_tasks on. */
struct node {
	uint32_t nr_waits, first_edge; /* what it waits for; who waits for it */
	uint32_t rank, to; /* to: of a message */
	uint32_t next; /* in a list of messages, or of ready tasks */
	double from_ns; /* submitted */
	double took_ns; /* its body, or its bytes on a link */
};

struct edge {
	uint32_t to, next;
	bool on_leave; /* of a message that has left; else: that has come */
};

/* The current version of a data. */
struct version {
	uint32_t maker; /* task, or NONE */
	uint32_t first_message, nr_messages;
	uint32_t first_reader; /* on the maker's rank, in read_by */
};

struct reader {
	uint32_t task, next;
};

struct event {
	double at_ns;
	uint64_t order; /* of two at one time */
	uint32_t node;
	bool is_end; /* of a body, or on the link; else: ready, or come */
};

struct rank {
	uint64_t nr_own, copy_bytes, most_bytes;
	uint32_t nr_free, first_ready, last_ready;
	double link_out_ns, link_in_ns, work_ns;
};

struct sim {
	const struct shape *s;
	const struct sim_attr *a;
	struct sim_result *out;
	struct node *node;
	struct edge *edge;
	struct version *version;
	struct reader *reader;
	struct rank *rank;
	struct event *heap;
	uint32_t nr_nodes, node_room, nr_edges, edge_room, nr_readers,
		reader_room, nr_events, event_room, nr_ended;
	uint64_t nr_ordered;
	bool no_memory;
};

/* Room for one more of an array. */
static void *grow_array(struct sim *m, void *v, uint32_t nr, uint32_t *room,
			size_t size)
{
	uint32_t more = *room ? 2 * *room : 1024;
	void *grown;

	if (nr < *room)
		return v;
	grown = realloc(v, more * size);
	if (!grown) {
		m->no_memory = true;
		return v;
	}
	*room = more;
	return grown;
}

static void add_edge(struct sim *m, uint32_t from, uint32_t to, bool on_leave)
{
	m->edge = grow_array(m, m->edge, m->nr_edges, &m->edge_room,
			     sizeof(*m->edge));
	if (m->no_memory)
		return;
	m->edge[m->nr_edges] =
		(struct edge){ to, m->node[from].first_edge, on_leave };
	m->node[from].first_edge = m->nr_edges++;
	m->node[to].nr_waits++;
}

static void add_reader(struct sim *m, struct version *v, uint32_t task)
{
	m->reader = grow_array(m, m->reader, m->nr_readers, &m->reader_room,
			       sizeof(*m->reader));
	if (m->no_memory)
		return;
	m->reader[m->nr_readers] = (struct reader){ task, v->first_reader };
	v->first_reader = m->nr_readers++;
}

/* When rank r has walked to task at and submitted so many of its own before it.
 */
static double walked_ns(const struct sim *m, uint32_t r, uint32_t at)
{
	double own = (double)m->rank[r].nr_own;

	return own * m->a->submit_ns + ((double)at - own) * m->a->skip_ns;
}

/* The message that brings the version to the rank that sends it on, or NONE. */
static uint32_t brings_it(const struct sim *m, const struct version *v)
{
	uint32_t i = v->first_message, back;

	if (!m->a->forwards || !v->nr_messages)
		return NONE;
	/* The list is from the last one, nr_messages - 1, to the first, 0. */
	for (back = v->nr_messages - 1; back > (v->nr_messages - 1) / 2; back--)
		i = m->node[i].next;
	return i;
}

static uint32_t add_message(struct sim *m, uint32_t data, uint32_t to,
			    uint32_t at)
{
	struct version *v = &m->version[data];
	uint32_t before = brings_it(m, v), i = m->nr_nodes;
	uint32_t from = before == NONE ? m->s->owner[data] : m->node[before].to;
	struct rank *r = &m->rank[to];

	m->node = grow_array(m, m->node, i, &m->node_room, sizeof(*m->node));
	if (m->no_memory)
		return NONE;
	m->nr_nodes++;
	m->node[i] = (struct node){
		.first_edge = NONE,
		.rank = from,
		.to = to,
		.next = v->first_message,
		.from_ns = walked_ns(m, from, at),
		.took_ns = (double)m->s->bytes[data] / m->a->bytes_per_ns,
	};
	v->first_message = i;
	v->nr_messages++;
	if (before != NONE)
		add_edge(m, before, i, false);
	else if (v->maker != NONE)
		add_edge(m, v->maker, i, false);
	m->out->nr_messages++;
	m->out->bytes += m->s->bytes[data];
	r->copy_bytes += m->s->bytes[data];
	if (r->copy_bytes > r->most_bytes)
		r->most_bytes = r->copy_bytes;
	return i;
}

static void read_data(struct sim *m, uint32_t task, uint32_t data)
{
	uint32_t rank = m->s->task[task].rank, i;
	struct version *v = &m->version[data];

	if (m->s->owner[data] == rank) {
		if (v->maker != NONE)
			add_edge(m, v->maker, task, false);
		add_reader(m, v, task);
		return;
	}
	i = m->a->drops_copies ? NONE : v->first_message;
	while (i != NONE && m->node[i].to != rank)
		i = m->node[i].next;
	if (i == NONE)
		i = add_message(m, data, rank, task);
	if (i != NONE)
		add_edge(m, i, task, false);
}

/* The version before ends with its readers here and the messages that leave. */
static void write_data(struct sim *m, uint32_t task, uint32_t data)
{
	struct version *v = &m->version[data];
	uint32_t i;

	for (i = v->first_reader; i != NONE; i = m->reader[i].next)
		if (m->reader[i].task != task)
			add_edge(m, m->reader[i].task, task, false);
	for (i = v->first_message; i != NONE; i = m->node[i].next) {
		add_edge(m, i, task, true);
		m->rank[m->node[i].to].copy_bytes -= m->s->bytes[data];
	}
	if (v->maker != NONE && v->first_reader == NONE)
		add_edge(m, v->maker, task, false);
	*v = (struct version){ task, NONE, 0, NONE };
}

static void walk_task(struct sim *m, uint32_t at)
{
	const struct shape_task *t = &m->s->task[at];
	uint32_t i;

	for (i = 0; i < t->nr_uses; i++)
		if (t->use[i].mode & SHAPE_READ)
			read_data(m, at, t->use[i].data);
	for (i = 0; i < t->nr_uses; i++)
		if (t->use[i].mode & SHAPE_WRITE)
			write_data(m, at, t->use[i].data);
	m->node[at].from_ns = walked_ns(m, t->rank, at) + m->a->submit_ns;
	m->node[at].took_ns = t->cost_ns;
	m->rank[t->rank].nr_own++;
	m->rank[t->rank].work_ns += t->cost_ns;
}

static bool is_before(const struct event *a, const struct event *b)
{
	return a->at_ns < b->at_ns ||
	       (a->at_ns == b->at_ns && a->order < b->order);
}

static void push_event(struct sim *m, double at_ns, uint32_t node, bool is_end)
{
	struct event e = { at_ns, m->nr_ordered++, node, is_end };
	uint32_t i = m->nr_events;

	m->heap = grow_array(m, m->heap, i, &m->event_room, sizeof(*m->heap));
	if (m->no_memory)
		return;
	for (m->nr_events++; i && is_before(&e, &m->heap[(i - 1) / 2]);
	     i = (i - 1) / 2)
		m->heap[i] = m->heap[(i - 1) / 2];
	m->heap[i] = e;
}

static struct event pop_event(struct sim *m)
{
	struct event first = m->heap[0], last = m->heap[--m->nr_events];
	uint32_t i = 0, child;

	for (; (child = 2 * i + 1) < m->nr_events; i = child) {
		if (child + 1 < m->nr_events &&
		    is_before(&m->heap[child + 1], &m->heap[child]))
			child++;
		if (is_before(&last, &m->heap[child]))
			break;
		m->heap[i] = m->heap[child];
	}
	m->heap[i] = last;
	return first;
}

static bool is_message(const struct sim *m, uint32_t i)
{
	return i >= m->s->nr_tasks;
}

static void start_task(struct sim *m, uint32_t i, double now_ns)
{
	m->rank[m->node[i].rank].nr_free--;
	push_event(m, now_ns + m->node[i].took_ns, i, true);
}

static void queue_task(struct sim *m, uint32_t i, double now_ns)
{
	struct rank *r = &m->rank[m->node[i].rank];

	if (r->nr_free) {
		start_task(m, i, now_ns);
		return;
	}
	m->node[i].next = NONE;
	if (r->first_ready == NONE)
		r->first_ready = i;
	else
		m->node[r->last_ready].next = i;
	r->last_ready = i;
}

static void next_task(struct sim *m, uint32_t rank, double now_ns)
{
	struct rank *r = &m->rank[rank];
	uint32_t i = r->first_ready;

	r->nr_free++;
	if (i == NONE)
		return;
	r->first_ready = m->node[i].next;
	start_task(m, i, now_ns);
}

static void send_message(struct sim *m, uint32_t i, double now_ns)
{
	struct rank *from = &m->rank[m->node[i].rank];

	if (from->link_out_ns < now_ns)
		from->link_out_ns = now_ns;
	from->link_out_ns += m->node[i].took_ns;
	push_event(m, from->link_out_ns, i, true);
}

/* Its bytes are on their way; the other link takes them one message at a time.
 */
static void leave_message(struct sim *m, uint32_t i, double now_ns)
{
	struct rank *to = &m->rank[m->node[i].to];
	double free_ns = to->link_in_ns + m->node[i].took_ns;

	to->link_in_ns = now_ns + m->a->latency_ns;
	if (to->link_in_ns < free_ns)
		to->link_in_ns = free_ns;
	push_event(m, to->link_in_ns, i, false);
}

static void release_node(struct sim *m, uint32_t i, double now_ns)
{
	struct node *n = &m->node[i];

	if (!--n->nr_waits)
		push_event(m, n->from_ns > now_ns ? n->from_ns : now_ns, i,
			   false);
}

/* Those that wait for this of it. */
static void tell_waiters(struct sim *m, uint32_t i, bool on_leave,
			 double now_ns)
{
	uint32_t e;

	for (e = m->node[i].first_edge; e != NONE; e = m->edge[e].next)
		if (m->edge[e].on_leave == on_leave)
			release_node(m, m->edge[e].to, now_ns);
}

/* A message is ready, has left and has come: the third event is a ready one,
 * too. */
static void take_event(struct sim *m, const struct event *e)
{
	uint32_t i = e->node;

	if (!is_message(m, i)) {
		if (!e->is_end) {
			queue_task(m, i, e->at_ns);
			return;
		}
		m->nr_ended++;
		m->out->end_ns = e->at_ns;
		next_task(m, m->node[i].rank, e->at_ns);
		tell_waiters(m, i, false, e->at_ns);
	} else if (e->is_end) {
		tell_waiters(m, i, true, e->at_ns);
		m->node[i].rank = NONE;
		leave_message(m, i, e->at_ns);
	} else if (m->node[i].rank == NONE) {
		tell_waiters(m, i, false, e->at_ns);
	} else {
		send_message(m, i, e->at_ns);
	}
}

/* The longest chain of bodies of which each reads what the one before wrote. */
static double longest_chain(const struct shape *s, double *made_ns)
{
	double from_ns, longest_ns = 0;
	const struct shape_task *t;
	uint32_t i, u;

	for (i = 0; i < s->nr_tasks; i++) {
		t = &s->task[i];
		from_ns = 0;
		for (u = 0; u < t->nr_uses; u++)
			if ((t->use[u].mode & SHAPE_READ) &&
			    made_ns[t->use[u].data] > from_ns)
				from_ns = made_ns[t->use[u].data];
		from_ns += t->cost_ns;
		for (u = 0; u < t->nr_uses; u++)
			if (t->use[u].mode & SHAPE_WRITE)
				made_ns[t->use[u].data] = from_ns;
		if (from_ns > longest_ns)
			longest_ns = from_ns;
	}
	return longest_ns;
}

static bool begin_sim(struct sim *m)
{
	const struct shape *s = m->s;
	uint32_t i;

	m->node_room = m->nr_nodes = s->nr_tasks;
	m->node = calloc(s->nr_tasks, sizeof(*m->node));
	m->version = calloc(s->nr_data, sizeof(*m->version));
	m->rank = calloc(s->nr_ranks, sizeof(*m->rank));
	if (!m->node || !m->version || !m->rank)
		return false;
	for (i = 0; i < s->nr_tasks; i++)
		m->node[i].first_edge = NONE, m->node[i].rank = s->task[i].rank;
	for (i = 0; i < s->nr_data; i++)
		m->version[i] = (struct version){ NONE, NONE, 0, NONE };
	for (i = 0; i < s->nr_ranks; i++) {
		m->rank[i].nr_free = m->a->nr_cores;
		m->rank[i].first_ready = NONE;
	}
	return true;
}

static bool end_sim(struct sim *m)
{
	double *made_ns = calloc(m->s->nr_data, sizeof(*made_ns)), ns;
	struct sim_result *out = m->out;
	uint32_t i;

	if (!made_ns)
		return false;
	out->bound_ns = longest_chain(m->s, made_ns);
	free(made_ns);
	for (i = 0; i < m->s->nr_ranks; i++) {
		ns = m->rank[i].work_ns / m->a->nr_cores;
		if (ns > out->bound_ns)
			out->bound_ns = ns;
		ns = walked_ns(m, i, m->s->nr_tasks);
		if (ns > out->walk_ns)
			out->walk_ns = ns;
		if (m->rank[i].most_bytes > out->copy_bytes)
			out->copy_bytes = m->rank[i].most_bytes;
	}
	return m->nr_ended == m->s->nr_tasks;
}

static void run_events(struct sim *m)
{
	struct event e;
	uint32_t i;

	for (i = 0; i < m->nr_nodes && !m->no_memory; i++)
		if (!m->node[i].nr_waits)
			push_event(m, m->node[i].from_ns, i, false);
	while (m->nr_events && !m->no_memory) {
		e = pop_event(m);
		take_event(m, &e);
	}
}

bool sim_run(const struct shape *s, const struct sim_attr *a,
	     struct sim_result *out)
{
	struct sim m = { .s = s, .a = a, .out = out };
	uint32_t i;
	bool ok;

	*out = (struct sim_result){ 0 };
	ok = begin_sim(&m);
	for (i = 0; ok && i < s->nr_tasks && !m.no_memory; i++)
		walk_task(&m, i);
	if (ok)
		run_events(&m);
	ok = ok && !m.no_memory && end_sim(&m);
	free(m.node);
	free(m.edge);
	free(m.version);
	free(m.reader);
	free(m.rank);
	free(m.heap);
	return ok;
}
