/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Each system call of a verb of the tool, and of programs that run under it,
 * fails once: the verb ends as it should or says why not, and one that reads a
 * recording and ends with 0 has written all of it. See tests/api/refused.h for
 * the words of its command line.
 */
#include "tests/api/probe.h"
#include "tests/api/refused.h"

static char recording[] = "/tmp/lkdf-refused-rec-XXXXXX";

static void make_recording(void)
{
	struct lkdf *rt;
	struct lkdf_kind *k;
	char options[96];
	int i;

	close(must(mkstemp(recording)));
	unlink(recording);
	snprintf(options, sizeof(options), "workers=2,trace=%s", recording);
	rt = api_open(options);
	k = api_kind(rt, "nothing", api_nothing, 0, 0);
	for (i = 0; i < 10; i++)
		must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k), NULL));
	must(lkdf_scope_wait(rt, NULL, -1));
	lkdf_kind_put(k);
	must(lkdf_close(rt));
}

#define VERB(...)                             \
	{                                     \
		probe_tool, __VA_ARGS__, NULL \
	}

int main(int argc, char **argv)
{
	const struct scenario scenarios[] = {
		{ "topo", .argv = VERB("topo") },
		{ "doctor", .argv = VERB("doctor") },
		{ "report", .argv = VERB("report", recording),
		  .is_exact = true },
		{ "report_json", .argv = VERB("report", "--json", recording),
		  .is_exact = true },
		{ "check", .argv = VERB("trace", "check", recording),
		  .is_exact = true },
		{ "convert", .argv = VERB("trace", "convert", recording),
		  .is_exact = true },
		{ "diff", .argv = VERB("trace", "diff", recording, recording),
		  .is_exact = true },
		{ "run",
		  .argv = VERB("run", "-o", "workers=1", "--", "/bin/true") },
	};

	tap_start(300);
	probe_find(argv[0]);
	if (HAS_SANITIZER || access(probe_tool, X_OK)) {
		printf("1..0 # SKIP %s\n",
		       HAS_SANITIZER ? "a sanitizer has calls of its own"
				     : "there is no tool");
		return 0;
	}
	make_recording();
	refused_main(argc, argv, scenarios,
		     (int)(sizeof(scenarios) / sizeof(scenarios[0])));
	unlink(recording);
	return tap_end();
}
