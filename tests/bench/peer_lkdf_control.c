/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf as a peer program that is asked as the peers of lkdf bench flow are, see
 * peer_control.h, for tools that count what a whole process does. The last word
 * of a question may be options of the runtime:
 * control SHAPE NR WORKERS [OPTIONS]         ns of a run of NR iterations
 * stream STAGES NR UNITS WORKERS [OPTIONS]   ns of NR tokens
 * seal SHAPE                                 CPU ns, see lkdf_seal.h
 */
#include "tests/bench/lkdf_control.h"
#include "tests/bench/lkdf_seal.h"
#include "tests/bench/peer_loop.h"

static struct {
	struct control control;
	struct stream stream;
	struct lkdf_stream line;
} job;

static int run_control(struct question *q, struct lkdf *rt)
{
	struct lkdf_graph *g;
	int rc = lkdf_control_open(rt, &job.control, &g);
	int64_t start = peer_now_ns();

	if (rc)
		return rc;
	rc = lkdf_control_run(&job.control, g);
	q->out[0] = (double)(peer_now_ns() - start);
	lkdf_graph_put(g);
	return rc;
}

static int run_stream(struct question *q, struct lkdf *rt)
{
	int rc = lkdf_stream_open(&job.line, rt, &job.stream);
	int64_t start = peer_now_ns();

	if (rc)
		return rc;
	rc = lkdf_stream_run(&job.line);
	q->out[0] = (double)(peer_now_ns() - start);
	lkdf_stream_close(&job.line);
	return rc;
}

static struct lkdf *open_runtime(const struct question *q, int first)
{
	char text[128];
	struct lkdf *rt;

	snprintf(text, sizeof(text), "workers=%u%s%s", peer_number(q, first),
		 q->nr > first + 1 ? "," : "",
		 q->nr > first + 1 ? q->word[first + 1] : "");
	return lkdf_open(text, &rt) ? NULL : rt;
}

static int answer(struct question *q, bool is_stream)
{
	struct lkdf *rt = open_runtime(q, is_stream ? 4 : 3);
	bool is_right;
	int rc;

	if (!rt)
		return peer_refuse(q, lkdf_errmsg());
	rc = is_stream ? run_stream(q, rt) : run_control(q, rt);
	is_right = is_stream ? stream_is_right(&job.stream)
			     : control_is_right(&job.control);
	lkdf_close(rt);
	if (rc)
		return peer_refuse(q, lkdf_errmsg());
	return is_right ? 1 : peer_refuse(q, "wrong result");
}

static int answer_seal(struct question *q)
{
	const char *name;
	struct lkdf *rt;
	unsigned at = 0;
	int rc;

	while ((name = lkdf_seal_name(at)) && strcmp(name, q->word[1]))
		at++;
	if (!name)
		return peer_refuse(q, "no such shape");
	if (lkdf_open("workers=1", &rt))
		return peer_refuse(q, lkdf_errmsg());
	rc = lkdf_seal_time(rt, at, q->out);
	lkdf_close(rt);
	return rc ? peer_refuse(q, lkdf_errmsg()) : 1;
}

static int peer_answer(struct question *q)
{
	if (q->nr == 2 && peer_is(q, "seal"))
		return answer_seal(q);
	if (q->nr < 4)
		return peer_refuse(q, "too few words");
	if (peer_is(q, "control"))
		return control_init(&job.control, q->word[1], peer_number(q, 2))
			       ? peer_refuse(q, "no such shape")
			       : answer(q, false);
	if (peer_is(q, "stream") && q->nr > 4)
		return stream_init(&job.stream, q->word[1], peer_number(q, 2),
				   peer_number(q, 3))
			       ? peer_refuse(q, "no such stream")
			       : answer(q, true);
	return peer_refuse(q, "unknown question");
}

int main(void)
{
	return peer_loop();
}
