/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * page.html with the style, the scripts and the data in the places of its
 * marks. The page may load nothing and runs these scripts only: its policy
 * names their hashes. Text of the recording comes as JSON in which no "<"
 * stands, and as escaped text for readers without scripts.
 */
#include "report/html_text.h"
#include "report/lanes.h"
#include "report/page.h"
#include "report/writers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A text of ours in memory. */
struct memory {
	FILE *f;
	char *text;
	size_t size;
};

static int memory_open(struct memory *m)
{
	*m = (struct memory){ .f = open_memstream(&m->text, &m->size) };
	return m->f ? 0 : -ENOMEM;
}

static int memory_close(struct memory *m, int rc)
{
	bool is_bad = ferror(m->f);

	if (fclose(m->f) || is_bad)
		return -ENOMEM;
	return rc;
}

/* JSON stays the same JSON, but ends no script. */
static int write_data(const struct report *r, FILE *out)
{
	struct memory m;
	struct json j;
	const char *c;
	int rc = memory_open(&m);

	if (rc)
		return rc;
	json_init(&j, m.f);
	rc = json_write(r, &j, true);
	if (!rc)
		rc = lanes_write(r, &j);
	json_close(&j, '}');
	rc = memory_close(&m, rc);
	for (c = m.text; !rc && *c; c++) {
		if (*c == '<')
			fputs("\\u003c", out);
		else
			putc(*c, out);
	}
	free(m.text);
	return rc;
}

static int write_text(const struct report *r, FILE *out)
{
	struct memory m;
	int rc = memory_open(&m);

	if (rc)
		return rc;
	rc = memory_close(&m, text_write(r, m.f, NULL));
	if (!rc)
		html_put_text(m.text, out);
	free(m.text);
	return rc;
}

static int write_mark(const struct report *r, FILE *out, const char *mark)
{
	if (!strncmp(mark, "@CSP@", 5))
		fprintf(out,
			"style-src 'sha256-%s'; script-src 'sha256-%s'; "
			"img-src data:",
			page_style_hash, page_script_hash);
	else if (!strncmp(mark, "@STYLE@", 7))
		fwrite(page_style, 1, page_style_size, out);
	else if (!strncmp(mark, "@SCRIPT@", 8))
		fwrite(page_script, 1, page_script_size, out);
	else if (!strncmp(mark, "@TEXT@", 6))
		return write_text(r, out);
	else
		return write_data(r, out);
	return 0;
}

int html_write(const struct report *r, FILE *out)
{
	const char *at = page_frame, *end = page_frame + page_frame_size, *mark;
	int rc = 0;

	while (!rc && (mark = memchr(at, '@', (size_t)(end - at)))) {
		fwrite(at, 1, (size_t)(mark - at), out);
		rc = write_mark(r, out, mark);
		at = memchr(mark + 1, '@', (size_t)(end - mark - 1));
		at = at ? at + 1 : end;
	}
	fwrite(at, 1, (size_t)(end - at), out);
	return rc;
}
