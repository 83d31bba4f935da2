/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "stat/answers.h"

#include "cli/cli.h"
#include "json.h"
#include "stat/ask.h"
#include "stat/calls.h"
#include "stat/target.h"

#include <stdlib.h>
#include <string.h>

/* The answer of each runtime; NULL: it was not to be asked, and code tells. */
struct answers {
	unsigned nr, nr_told;
	char *text[STATS_MAX];
	int code; /* of the last that failed */
};

static void ask_all(struct answers *all, const struct question *q,
		    struct stats *stats, int pid, bool is_json)
{
	struct lkdf_answer a;
	unsigned i;
	int rc;

	for (i = 0; i < all->nr; i++) {
		rc = ask_text(&stats[i], pid, is_json ? q->json : q->text,
			      &all->text[i], &a);
		all->nr_told += !rc;
		if (rc)
			all->code = ask_fail(q->verb, pid, rc, &a);
	}
}

static void print_text(const struct answers *all, const struct question *q,
		       const struct stats *stats, int pid)
{
	unsigned i;

	for (i = 0; i < all->nr; i++) {
		if (!all->text[i] && !q->tells_calls)
			continue;
		if (all->nr > 1)
			printf("%sruntime %u of %u\n", i ? "\n" : "", i + 1,
			       all->nr);
		if (all->text[i])
			fputs(all->text[i], stdout);
		if (q->tells_calls)
			calls_print(&stats[i], pid);
	}
}

static void cut_end(char *text)
{
	size_t size = strlen(text);

	while (size && text[size - 1] == '\n')
		text[--size] = '\0';
}

/* Each is an object of a schema of its own. */
static void print_json(const struct answers *all, const struct question *q,
		       const struct stats *stats, int pid)
{
	char command[64];
	unsigned i, nr = 0;
	struct json j;

	target_name(pid, command, sizeof(command));
	json_init(&j, stdout);
	json_open(&j, NULL, '{');
	json_text(&j, "schema", q->schema);
	json_int(&j, "pid", pid);
	json_text(&j, "command", command);
	json_open(&j, "runtimes", '[');
	for (i = 0; i < all->nr; i++) {
		if (!all->text[i])
			continue;
		cut_end(all->text[i]);
		printf("%s\n    %s", nr++ ? "," : "", all->text[i]);
	}
	json_close(&j, ']');
	if (q->tells_calls) {
		json_open(&j, "threads", '[');
		for (i = 0; i < all->nr; i++)
			calls_json(&stats[i], pid, &j);
		json_close(&j, ']');
	}
	json_close(&j, '}');
}

int answers_print(const struct question *q, const char *process, bool is_json)
{
	struct answers all = { .nr = 0 };
	struct stats stats[STATS_MAX];
	int code, pid, rc;
	unsigned i;

	code = target_find(q->verb, process, &pid);
	if (code)
		return code;
	rc = stats_find(pid, stats, STATS_MAX);
	if (rc <= 0)
		return target_refuse(q->verb, pid, rc);
	all.nr = (unsigned)rc;
	ask_all(&all, q, stats, pid, is_json);
	if (all.nr_told && is_json)
		print_json(&all, q, stats, pid);
	else if (!is_json)
		print_text(&all, q, stats, pid);
	for (i = 0; i < all.nr; i++) {
		stats_unmap(&stats[i]);
		free(all.text[i]);
	}
	return all.code;
}
