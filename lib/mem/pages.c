/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mem/pages.h"

#include "base/err.h"
#include "base/util.h"
#include "mem/numa_maps.h"
#include "mem/pages_ask.h"
#include "mem/vma.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Without a list of mappings larger ranges are refused. */
#define MAX_UNLISTED (1ull << 40)

struct walk {
	const struct pages_attr *a;
	pages_fn fn;
	void *u;
	struct vma_list vmas;
	struct numa_maps numa;
	int numa_rc; /* 1: not read yet */
	int maps_rc; /* 0: vmas are from maps */
	bool is_large; /* asking each page would cost more than numa_maps */
	struct pages_ask ask;
	struct pages_tally t; /* of the part under way */
	struct pages_tally all; /* of the mapping it is a part of */
};

/* A part of one mapping, with one record or none. */
struct part {
	const struct vma *vma;
	const struct numa_vma *counts; /* NULL: not looked up, or not there */
	const struct pages_own *own;
	struct lkdf_mapping m;
};

static bool is_whole(const struct part *p)
{
	return p->m.bytes == p->vma->end - p->vma->start;
}

/* numa_maps is read once, when it is first needed. */
static void look_up(struct walk *w, struct part *p)
{
	if (w->numa_rc > 0)
		w->numa_rc =
			numa_maps_read(w->a->proc_root, w->a->pid,
				       w->vmas.v[w->vmas.nr - 1].end, &w->numa);
	p->counts = NULL;
	if (!w->numa_rc && !w->maps_rc)
		p->counts = numa_maps_find(&w->numa, p->vma->start);
	if (p->counts && p->counts->is_hugetlb)
		p->m.flags |= LKDF_MAPPING_HUGETLB;
}

/* The whole mapping as numa_maps has it; it may have grown meanwhile. */
static void take_counts(struct walk *w, struct part *p)
{
	uint64_t left = p->m.bytes, bytes;
	const struct numa_share *share;
	uint32_t i;

	memset(&w->t, 0, sizeof(w->t));
	for (i = 0; i < p->counts->nr_shares; i++) {
		share = &w->numa.share[p->counts->first + i];
		bytes = min_u64(share->bytes, left);
		w->t.on[share->node] = bytes;
		left -= bytes;
	}
	w->t.absent = left;
	p->m.sources = LKDF_PAGES_NUMA_MAPS;
}

/* Bytes of the mapping's share i that were not located; *node is its node. */
static uint64_t count_missing(const struct walk *w, const struct part *p,
			      uint32_t i, uint32_t *node)
{
	const struct numa_share *share = &w->numa.share[p->counts->first + i];
	uint64_t located = w->all.on[share->node];

	*node = share->node;
	return share->bytes > located ? share->bytes - located : 0;
}

static uint64_t scale_counts(uint64_t v, uint64_t mul, uint64_t div)
{
	return div ? (uint64_t)((unsigned __int128)v * mul / div) : 0;
}

/* Deals sum bytes to nodes as the mapping's total missing bytes are. */
static void deal_pages(struct walk *w, const struct part *p, uint64_t sum,
		       uint64_t total)
{
	uint64_t seen = 0, given = 0, bytes;
	uint32_t i, node;

	for (i = 0; i < p->counts->nr_shares; i++) {
		seen += count_missing(w, p, i, &node);
		bytes = scale_counts(sum, seen, total) - given;
		w->t.on[node] += bytes;
		given += bytes;
	}
}

/*
 * Pages that were not located in the part, by what is missing in the mapping.
 */
static void spread_samples(struct walk *w, struct part *p)
{
	uint64_t total = 0, hidden, vague, bytes;
	uint32_t i, node, nr = 0;

	for (i = 0; i < p->counts->nr_shares; i++) {
		bytes = count_missing(w, p, i, &node);
		total += bytes;
		nr += bytes > 0;
	}
	hidden = min_u64(total, w->all.hidden);
	vague = min_u64(total - hidden, w->all.vague);
	if (nr > 1 || (nr && w->all.is_sampled) ||
	    (w->t.vague && vague && vague < w->all.vague))
		p->m.flags |= LKDF_MAPPING_ESTIMATED;
	hidden = scale_counts(w->t.hidden, hidden, w->all.hidden);
	vague = scale_counts(w->t.vague, vague, w->all.vague);
	deal_pages(w, p, hidden + vague, total);
	w->t.hidden -= hidden;
	w->t.absent += w->t.vague - vague;
	w->t.vague = 0;
	p->m.sources |= LKDF_PAGES_NUMA_MAPS;
}

static int refuse_walk(const struct walk *w)
{
	bool is_denied = w->ask.refused != ENOSYS || w->numa_rc == -EACCES ||
			 w->numa_rc == -EPERM;

	return err(is_denied ? -EPERM : -ENOSYS,
		   "pages: process %d: move_pages(2): %s; numa_maps: %s",
		   w->a->pid, strerror(w->ask.refused), strerror(-w->numa_rc));
}

/* No numa_maps for hidden pages. */
static int settle_without(struct walk *w, struct part *p)
{
	if (w->ask.refused && w->numa_rc && !w->a->nr_own)
		return refuse_walk(w);
	if (w->ask.pagemap >= 0) {
		w->t.hidden += w->t.vague;
	} else {
		w->t.absent += w->t.vague;
		p->m.flags |= LKDF_MAPPING_UNCHECKED;
	}
	w->t.vague = 0;
	return 0;
}

static int settle_part(struct walk *w, struct part *p)
{
	int rc;

	if (w->ask.refused && p->own) {
		w->t.on[p->own->node] += w->t.hidden + w->t.vague;
		w->t.hidden = w->t.vague = 0;
		p->m.sources |= LKDF_PAGES_OWN;
		p->m.flags |= LKDF_MAPPING_ESTIMATED;
		return 0;
	}
	look_up(w, p);
	if (!p->counts)
		return settle_without(w, p);
	if (is_whole(p)) {
		p->m.flags &= ~(uint32_t)LKDF_MAPPING_SAMPLED;
		take_counts(w, p);
		return 0;
	}
	memset(&w->all, 0, sizeof(w->all));
	rc = pages_ask(&w->ask, p->vma->start, p->vma->end, &w->all);
	if (!rc)
		spread_samples(w, p);
	return rc;
}

/* Takes the bytes of a page that are not of the part away again. */
static bool cut_part(struct walk *w, uint64_t page, uint64_t bytes)
{
	const struct pages_attr *a = w->a;
	uint64_t *from = &w->t.absent;
	uint32_t i;

	if (!bytes)
		return true;
	memset(&w->all, 0, sizeof(w->all));
	if (a->query(a->query_u, page, page + w->ask.page_size, &w->all))
		return false;
	for (i = 0; i < PAGES_MAX_NODES; i++)
		if (w->all.on[i])
			from = &w->t.on[i];
	if (w->all.vague)
		from = &w->t.vague;
	/* Less: it has moved meanwhile. */
	if (*from < bytes)
		return false;
	*from -= bytes;
	return true;
}

/*
 * Whether all pages of start .. end that the query calls vague are absent. On
 * kernels that hide hinted pages more are present than have a node or are the
 * zero page.
 */
static bool is_none_hinted(const struct walk *w, uint64_t start, uint64_t end)
{
	int64_t told = (int64_t)(end - start - w->t.vague);

	return !w->t.vague || pages_present(&w->ask, start, end) == told;
}

/* False: the others are to be asked. */
static bool query_pages(struct walk *w, struct part *p)
{
	uint64_t size = w->ask.page_size, start = p->m.addr / size * size;
	uint64_t end = round_up(p->m.addr + p->m.bytes, size);
	const struct pages_attr *a = w->a;

	memset(&w->t, 0, sizeof(w->t));
	if (!a->query || a->query(a->query_u, start, end, &w->t) ||
	    !is_none_hinted(w, start, end) ||
	    !cut_part(w, start, p->m.addr - start) ||
	    !cut_part(w, end - size, end - p->m.addr - p->m.bytes))
		return false;
	w->t.absent += w->t.vague;
	w->t.vague = 0;
	p->m.sources |= LKDF_PAGES_KMOD;
	return true;
}

static int count_bytes(struct walk *w, struct part *p)
{
	int rc;

	if (w->a->want_kinds || (w->is_large && is_whole(p)))
		look_up(w, p);
	if (p->counts && is_whole(p)) {
		take_counts(w, p);
		return 0;
	}
	if (query_pages(w, p))
		return 0;
	memset(&w->t, 0, sizeof(w->t));
	rc = pages_ask(&w->ask, p->m.addr, p->m.addr + p->m.bytes, &w->t);
	if (rc)
		return err(rc, "pages: process %d: move_pages(2): %s",
			   w->a->pid, strerror(-rc));
	if (!w->ask.refused)
		p->m.sources |= LKDF_PAGES_MOVE;
	if (w->t.is_sampled)
		p->m.flags |= LKDF_MAPPING_SAMPLED;
	return w->t.hidden || w->t.vague ? settle_part(w, p) : 0;
}

static int report_pages(struct walk *w, struct part *p)
{
	uint32_t i;

	for (i = w->a->nr_nodes; i < PAGES_MAX_NODES; i++) {
		if (w->t.on[i])
			p->m.nr_nodes = i + 1;
	}
	p->m.bytes_on_node = w->t.on;
	p->m.absent = w->t.absent;
	p->m.unknown = w->t.hidden;
	if (p->m.absent == p->m.bytes)
		p->m.sources = 0;
	return w->fn(w->u, &p->m);
}

/* start .. end is in v and, if own is not NULL, in own. */
static int walk_part(struct walk *w, const struct vma *v,
		     const struct pages_own *own, uint64_t start, uint64_t end)
{
	struct part p = { .vma = v, .own = own };
	int rc;

	p.m = (struct lkdf_mapping){
		.size = sizeof(p.m),
		.nr_nodes = w->a->nr_nodes,
		.addr = start,
		.bytes = end - start,
		.name = w->vmas.names + v->name,
	};
	rc = count_bytes(w, &p);
	return rc ? rc : report_pages(w, &p);
}

/* Cut where records begin and end. */
static int walk_vma(struct walk *w, const struct vma *v)
{
	uint64_t at = max_u64(v->start, w->a->start), to;
	uint64_t end = min_u64(v->end, w->a->end);
	const struct pages_own *own;
	size_t i = 0;
	int rc = 0;

	for (; !rc && at < end; at = to) {
		while (i < w->a->nr_own && w->a->own[i].end <= at)
			i++;
		own = i < w->a->nr_own ? &w->a->own[i] : NULL;
		to = end;
		if (own)
			to = min_u64(end,
				     own->start > at ? own->start : own->end);
		rc = walk_part(w, v, own && own->start <= at ? own : NULL, at,
			       to);
	}
	return rc;
}

static int is_gone(int32_t pid)
{
	return pid && kill(pid, 0) && errno == ESRCH;
}

/* Without maps the range is taken for one mapping, if it is not too large. */
static int list_vmas(struct walk *w)
{
	const struct pages_attr *a = w->a;
	uint64_t mask = w->ask.page_size - 1;
	int rc;

	rc = vma_read(a->proc_root, a->pid, a->start, a->end, &w->vmas);
	if (!rc)
		return w->vmas.nr ? 0
				  : err(-EFAULT,
					"pages: process %d: nothing is mapped "
					"at %#llx",
					a->pid, (unsigned long long)a->start);
	if (is_gone(a->pid))
		return err(-ESRCH, "pages: there is no process %d", a->pid);
	w->maps_rc = rc;
	if (rc == -EACCES || rc == -EPERM || rc == -ENOENT) {
		vma_fini(&w->vmas);
		if (a->end - a->start <= MAX_UNLISTED)
			return vma_add(&w->vmas, a->start & ~mask,
				       (a->end + mask) & ~mask, "");
		rc = -EPERM;
	}
	return err(rc, "pages: process %d: cannot read its maps: %s", a->pid,
		   strerror(-w->maps_rc));
}

static int walk_vmas(struct walk *w)
{
	uint64_t bytes = 0;
	size_t i;
	int rc;

	rc = list_vmas(w);
	for (i = 0; !rc && i < w->vmas.nr; i++)
		bytes += w->vmas.v[i].end - w->vmas.v[i].start;
	w->is_large = bytes / w->ask.page_size > PAGES_FULL;
	for (i = 0; !rc && i < w->vmas.nr; i++)
		rc = walk_vma(w, &w->vmas.v[i]);
	return rc;
}

int pages_walk(const struct pages_attr *a, pages_fn fn, void *u)
{
	struct walk *w = malloc(sizeof(*w));
	int rc;

	if (!w)
		return err(-ENOMEM, "pages: no memory");
	w->a = a;
	w->fn = fn;
	w->u = u;
	w->vmas = (struct vma_list){ 0 };
	w->numa = (struct numa_maps){ 0 };
	w->numa_rc = 1;
	w->maps_rc = 0;
	pages_ask_init(&w->ask, a->proc_root, a->pid);
	rc = walk_vmas(w);
	pages_ask_fini(&w->ask);
	numa_maps_fini(&w->numa);
	vma_fini(&w->vmas);
	free(w);
	return rc;
}
