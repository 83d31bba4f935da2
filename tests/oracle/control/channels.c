/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "tests/oracle/control/channels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void must(int rc, const char *what)
{
	if (rc >= 0)
		return;
	printf("# %s: %s\n", what, lkdf_errmsg());
	exit(1);
}

static int feed(struct lkdf_ctx *c, void *arg)
{
	struct channels *ch = *(struct channels **)arg;
	uint64_t v;
	int rc;

	for (;;) {
		v = program_fed(ch->p, ch->nr_fed);
		rc = lkdf_send(c, ch->in, &v);
		if (rc == -EPIPE)
			return 0;
		if (rc)
			return rc == -EAGAIN ? LKDF_AGAIN : rc;
		ch->nr_fed++;
	}
}

static int drain(struct lkdf_ctx *c, void *arg)
{
	struct channels *ch = *(struct channels **)arg;
	uint64_t v;
	int rc;

	while (!(rc = lkdf_recv(c, ch->out, &v)))
		ch->drained =
			program_see(ch->drained, (int)ch->nr_drained++, &v);
	if (rc == -ENODATA)
		return 0;
	return rc == -EAGAIN ? LKDF_AGAIN : rc;
}

static struct lkdf_kind *start(struct channels *ch, struct lkdf *rt,
			       const char *name, lkdf_fn fn,
			       struct lkdf_channel **out)
{
	struct lkdf_channel_attr a = { .size = sizeof(a),
				       .name = name,
				       .value_size = sizeof(uint64_t),
				       .depth = (uint32_t)ch->p->depth };
	struct lkdf_kind_attr k = { .size = sizeof(k),
				    .name = name,
				    .fn = fn,
				    .arg_size = sizeof(ch) };
	struct lkdf_task t = { .size = sizeof(t), .arg = &ch };
	struct lkdf_kind *kind;

	must(lkdf_channel_create(rt, &a, out), "channel");
	must(lkdf_kind_create(rt, &k, &kind), "kind");
	t.kind = kind;
	must(lkdf_submit(rt, NULL, &t, NULL), "submit");
	return kind;
}

void channels_open(struct channels *ch, struct lkdf *rt,
		   const struct program *p)
{
	memset(ch, 0, sizeof(*ch));
	ch->p = p;
	if (p->receiver >= 0)
		ch->feeds = start(ch, rt, "feed", feed, &ch->in);
	if (p->sender >= 0)
		ch->drains = start(ch, rt, "drain", drain, &ch->out);
}

static int receive(struct channels *ch, struct lkdf_ctx *c)
{
	uint64_t v;
	int rc = lkdf_recv(c, ch->in, &v);

	if (rc)
		return rc;
	ch->received = program_see(ch->received, (int)ch->nr_received++, &v);
	return 0;
}

int channels_exchange(struct channels *ch, struct lkdf_ctx *c,
		      struct exchange *x, const struct program *p, int task,
		      uint64_t value)
{
	int rc = 0;

	if (task == p->receiver && !x->has_received)
		rc = receive(ch, c);
	if (!rc && task == p->sender) {
		rc = lkdf_send(c, ch->out, &value);
		/* The receiver may be another task, which runs beside it. */
		if (task == p->receiver)
			x->has_received = rc == -EAGAIN;
	}
	if (rc != -EAGAIN)
		return rc;
	atomic_fetch_add(&ch->nr_again, 1);
	return LKDF_AGAIN;
}

void channels_expect(struct channels *ch, const struct program *p, int run,
		     const struct story *s)
{
	uint64_t v;
	int n;

	for (n = 0; p->receiver >= 0 && n < s->calls[p->receiver]; n++) {
		v = program_fed(p, ch->nr_want_received);
		ch->want_received = program_see(
			ch->want_received, (int)ch->nr_want_received++, &v);
	}
	for (n = 0; p->sender >= 0 && n < s->calls[p->sender]; n++) {
		v = program_out(p, run, p->sender, n);
		ch->want_drained = program_see(ch->want_drained,
					       (int)ch->nr_want_drained++, &v);
	}
}

static bool compare(const char *who, uint64_t nr, uint64_t nr_want,
		    bool is_same)
{
	if (nr == nr_want && is_same)
		return true;
	printf("# the %s has had %llu values, the model %llu%s\n", who,
	       (unsigned long long)nr, (unsigned long long)nr_want,
	       nr == nr_want ? ", and others" : "");
	return false;
}

bool channels_close(struct channels *ch, struct lkdf *rt)
{
	bool good;

	if (ch->in)
		must(lkdf_channel_end(ch->in, 0), "end");
	if (ch->out)
		must(lkdf_channel_end(ch->out, 0), "end");
	lkdf_scope_wait(rt, NULL, -1);
	good = compare("receiver", ch->nr_received, ch->nr_want_received,
		       ch->received == ch->want_received);
	good &= compare("drainer", ch->nr_drained, ch->nr_want_drained,
			ch->drained == ch->want_drained);
	lkdf_kind_put(ch->feeds);
	lkdf_kind_put(ch->drains);
	lkdf_channel_put(ch->in);
	lkdf_channel_put(ch->out);
	return good;
}
