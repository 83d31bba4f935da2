/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "signal/src_bpf.h"

#include "base/clock.h"
#include "signal/bpf_pins.h"

#include <errno.h>
#include <limits.h>
#include <linux/bpf.h>
#include <lkdf_probe.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

/* ---- pins ---------------------------------------------------------------- */

static int call_bpf(int cmd, union bpf_attr *attr)
{
	long rc = syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : (int)rc;
}

static int get_pin(const char *dir, const char *name)
{
	char path[PATH_MAX];
	union bpf_attr attr;

	if (snprintf(path, sizeof(path), "%s/%s", dir, name) >=
	    (int)sizeof(path))
		return -ENAMETOOLONG;
	memset(&attr, 0, sizeof(attr));
	attr.pathname = (uintptr_t)path;
	return call_bpf(BPF_OBJ_GET, &attr);
}

/* Is it an array of such values that may be mapped? */
static int look_at_map(int fd, uint32_t value_size, uint32_t *nr)
{
	struct bpf_map_info info;
	union bpf_attr attr;
	int rc;

	memset(&info, 0, sizeof(info));
	memset(&attr, 0, sizeof(attr));
	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info_len = sizeof(info);
	attr.info.info = (uintptr_t)&info;
	rc = call_bpf(BPF_OBJ_GET_INFO_BY_FD, &attr);
	if (rc < 0)
		return rc;
	*nr = info.max_entries;
	if (info.type != BPF_MAP_TYPE_ARRAY || info.value_size != value_size ||
	    !info.max_entries || !(info.map_flags & BPF_F_MMAPABLE))
		return -EPROTO;
	return 0;
}

static int map_pin(const char *dir, const char *name, uint32_t value_size,
		   struct mapped *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	int fd = get_pin(dir, name), rc;

	if (fd < 0)
		return fd;
	rc = look_at_map(fd, value_size, &m->nr);
	if (!rc) {
		m->bytes = round_up((uint64_t)value_size * m->nr, page);
		m->at = mmap(NULL, m->bytes, PROT_READ, MAP_SHARED, fd, 0);
		if (m->at == MAP_FAILED) {
			m->at = NULL;
			rc = -errno;
		}
	}
	close(fd);
	return rc;
}

static void unmap_pins(struct mapped *m)
{
	if (m->at)
		munmap(m->at, m->bytes);
	m->at = NULL;
}

static void free_pins(struct bpf_pins *p)
{
	unmap_pins(&p->head);
	unmap_pins(&p->slots);
	unmap_pins(&p->words);
	unmap_pins(&p->stacks);
	own_fd_close(&p->program);
	free(p);
}

static int check_head(const struct bpf_pins *p)
{
	const struct lkdf_probe_head *h = p->head.at;

	return h->magic == LKDF_PROBE_MAGIC &&
			       h->abi_major == LKDF_PROBE_ABI_MAJOR &&
			       h->nr_slots <= p->slots.nr &&
			       h->nr_words <= p->words.nr
		       ? 0
		       : -EPROTO;
}

static void open_stacks(const char *dir, struct bpf_pins *p)
{
	if (map_pin(dir, "stacks", sizeof(struct lkdf_probe_stack),
		    &p->stacks)) {
		unmap_pins(&p->stacks);
		p->stacks.nr = 0;
	}
}

static int open_pins(const char *dir, struct bpf_pins *p)
{
	int rc = map_pin(dir, "head", sizeof(struct lkdf_probe_head), &p->head);

	if (!rc)
		rc = map_pin(dir, "slots", sizeof(struct lkdf_probe_slot),
			     &p->slots);
	if (!rc)
		rc = map_pin(dir, "words", sizeof(struct lkdf_probe_word),
			     &p->words);
	if (!rc)
		rc = check_head(p);
	if (!rc) {
		rc = get_pin(dir, "register");
		p->program = own_fd_of(rc);
		rc = rc < 0 ? rc : 0;
	}
	if (!rc)
		open_stacks(dir, p);
	if (!rc && getrandom(&p->key, sizeof(p->key), GRND_NONBLOCK) !=
			   (ssize_t)sizeof(p->key))
		p->key = (uint64_t)clock_now_ns() * LKDF_PROBE_MUL;
	return rc;
}

static void say_why(struct workers *b, int rc)
{
	const char *why = strerror(-rc);

	if (rc == -EPROTO)
		why = "those maps are not the probe's";
	else if (rc == -ENOENT || rc == -EINVAL || rc == -ENOTDIR)
		why = "the probe does not run";
	snprintf(b->why, sizeof(b->why), "%.100s: %.50s", b->pins, why);
}

int src_bpf_open(struct workers *b)
{
	struct bpf_pins *p;
	int rc;

	if (!b->pins || !*b->pins) {
		snprintf(b->why, sizeof(b->why), "switched off");
		return 1;
	}
	p = calloc(1, sizeof(*p));
	if (!p)
		return -ENOMEM;
	p->program = OWN_FD_NONE;
	rc = open_pins(b->pins, p);
	if (rc) {
		say_why(b, rc);
		free_pins(p);
		return 1;
	}
	b->bpf = p;
	return 0;
}

void src_bpf_close(struct workers *b)
{
	if (b->bpf)
		free_pins(b->bpf);
	b->bpf = NULL;
}

/* ---- a thread ------------------------------------------------------------ */

static bool is_whole(const struct lkdf_probe_register *r,
		     const struct bpf_pins *p)
{
	const struct lkdf_probe_slot *s = p->slots.at;

	/* In a pid namespace the numbers are others: the kernel has filled
	 * that slot for this thread, or there is none. */
	return r->slot < p->slots.nr && s[r->slot].gen == r->gen;
}

void src_bpf_enter(struct workers *b, int executor,
		   const struct workers_own *own)
{
	struct lkdf_probe_register r = { .size = sizeof(r) };
	struct worker_facts *f = &b->of[executor];
	const struct bpf_pins *p = b->bpf;
	union bpf_attr attr;

	if (!p)
		return;
	r.key = p->key;
	r.kind_at = (uintptr_t)own->kind_at;
	memcpy(r.own, own->range, sizeof(r.own));
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)p->program.fd;
	attr.test.ctx_in = (uintptr_t)&r;
	attr.test.ctx_size_in = sizeof(r);
	a_store(&f->slot, 0, relaxed);
	if (call_bpf(BPF_PROG_TEST_RUN, &attr) || attr.test.retval ||
	    !is_whole(&r, p))
		return;
	a_store(&f->slot, (uint64_t)r.gen << 32 | (r.slot + 1ull), relaxed);
}

/* ---- reading ------------------------------------------------------------- */

bool src_bpf_is_live(const struct workers *b, int64_t now, uint64_t *age)
{
	const struct lkdf_probe_head *h;
	uint64_t beat;

	*age = 0;
	if (!b->bpf)
		return false;
	h = b->bpf->head.at;
	beat = word_of(h->beat_ns);
	*age = (uint64_t)now > beat ? (uint64_t)now - beat : 0;
	return lkdf_probe_is_live(h->hooks, word_of(h->stopped_ns), beat,
				  (uint64_t)now);
}

static void put_fact(struct lkdf_fact *f, uint64_t value, uint64_t age)
{
	f->value += value;
	f->age_ns = age;
	f->source = LKDF_SIGNAL_BPF;
}

static void put_state(const struct lkdf_probe_slot *s, uint64_t age,
		      int64_t now, struct lkdf_facts *out)
{
	uint64_t since = word_of(s->since_ns);

	put_fact(&out->state, half_of(s->state), age);
	put_fact(&out->state_ns,
		 (uint64_t)now > since ? (uint64_t)now - since : 0, age);
}

bool src_bpf_read(const struct workers *b, int executor, uint64_t age,
		  int64_t now, struct lkdf_facts *out)
{
	const struct lkdf_probe_head *h = b->bpf->head.at;
	const struct lkdf_probe_slot *s = bpf_slot_of(b, executor);

	if (!s)
		return false;
	if (h->hooks & LKDF_PROBE_SWITCH) {
		put_state(s, age, now, out);
		put_fact(&out->nr_preempt, word_of(s->nr_preempt), age);
		put_fact(&out->preempt_ns, word_of(s->preempt_ns), age);
		put_fact(&out->nr_block, word_of(s->nr_block), age);
		put_fact(&out->block_ns, word_of(s->block_ns), age);
		put_fact(&out->nr_futex_block, word_of(s->nr_futex_block), age);
		put_fact(&out->futex_block_ns, word_of(s->futex_block_ns), age);
		put_fact(&out->nr_migrate, word_of(s->nr_migrate), age);
		put_fact(&out->nr_xnode, word_of(s->nr_xnode), age);
	}
	if (h->hooks & LKDF_PROBE_PLACE)
		put_fact(&out->moved_pages, word_of(s->moved_pages), age);
	if (h->hooks & LKDF_PROBE_SAMPLE) {
		put_fact(&out->samples, word_of(s->samples), age);
		put_fact(&out->futex_samples, word_of(s->futex), age);
		put_fact(&out->word, bpf_show(b->bpf, word_of(s->last_word)),
			 age);
	}
	return true;
}

void src_bpf_moved(const struct workers *b, uint64_t age, struct lkdf_fact *f)
{
	const struct lkdf_probe_head *h = b->bpf->head.at;

	memset(f, 0, sizeof(*f));
	if (h->hooks & LKDF_PROBE_PLACE)
		put_fact(f, word_of(h->moved_pages), age);
}

static bool is_live(const void *u)
{
	uint64_t age;

	return src_bpf_is_live(u, clock_now_ns(), &age);
}

bool src_bpf_news(const struct workers *b, struct board_news *out)
{
	const struct lkdf_probe_head *h;

	if (!b->bpf)
		return false;
	h = b->bpf->head.at;
	*out = (struct board_news){
		.nr = (const _Atomic(uint64_t) *)(const void *)&h->moved_pages,
		.is_live = is_live,
		.u = b,
	};
	return h->hooks & LKDF_PROBE_PLACE;
}

uint64_t src_bpf_hottest(const struct workers *b)
{
	const struct lkdf_probe_word *w = b->bpf->words.at;
	uint64_t most = 0, id = 0, nr;
	uint32_t i;

	for (i = 0; i < b->bpf->words.nr; i++, w++) {
		nr = word_of(w->samples);
		if (nr > most && word_of(w->tag) &&
		    bpf_is_ours(b, half_of(w->slot), half_of(w->gen))) {
			most = nr;
			id = word_of(w->id);
		}
	}
	return bpf_show(b->bpf, id);
}

void src_bpf_mark(const struct workers *b, struct workers_mark *m)
{
	const struct lkdf_probe_slot *s;
	uint64_t age;
	int i;

	m->samples = m->futex = m->own = 0;
	if (!src_bpf_is_live(b, clock_now_ns(), &age))
		return;
	for (i = 0; i < b->nr; i++) {
		s = bpf_slot_of(b, i);
		if (!s)
			continue;
		m->samples += word_of(s->samples);
		m->futex += word_of(s->futex);
		m->own += word_of(s->own);
	}
}

uint64_t src_bpf_key(const struct workers *b)
{
	return b->bpf ? b->bpf->key : 0;
}
