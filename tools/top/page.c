/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "top/page.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>

#define NARROW 60u
#define BAR_MAX 60

void top_page_free(struct top_page *p)
{
	free(p->line);
	p->line = NULL;
	p->nr = p->room = 0;
}

void page_line(struct top_page *p, enum cli_paint paint)
{
	unsigned room = p->room ? 2 * p->room : 64;
	struct top_line *line;

	if (p->nr == p->room) {
		line = realloc(p->line, room * sizeof(*line));
		if (!line) {
			p->is_full = true;
			return;
		}
		p->line = line;
		p->room = room;
	}
	line = &p->line[p->nr++];
	line->paint = paint;
	line->is_head = false;
	line->text[0] = '\0';
	p->column = 0;
	p->is_full = false;
}

void page_head(struct top_page *p)
{
	page_line(p, CLI_PLAIN);
	if (p->nr)
		p->line[p->nr - 1].is_head = true;
}

/* Columns of text that has been cleaned: one for each character. */
static unsigned columns_of(const char *text)
{
	unsigned nr = 0;

	for (; *text; text++)
		nr += ((unsigned char)*text & 0xc0) != 0x80;
	return nr;
}

static void append(struct top_page *p, const char *text, unsigned pad_before,
		   unsigned pad_behind)
{
	char *line;
	size_t used;

	if (!p->nr)
		return;
	line = p->line[p->nr - 1].text;
	used = strlen(line);
	snprintf(line + used, TOP_LINE - used, "%*s%s%*s", (int)pad_before, "",
		 text, (int)pad_behind, "");
}

static void put(struct top_page *p, int width, const char *text)
{
	unsigned columns = columns_of(text);
	unsigned room = (unsigned)(width < 0 ? -width : width), pad = 0;

	if (columns < room)
		pad = room - columns;
	if (p->is_full || columns + pad > p->width - p->column) {
		p->is_full = true;
		return;
	}
	append(p, text, width < 0 ? 0 : pad, width < 0 ? pad : 0);
	p->column += columns + pad;
}

void page_cell(struct top_page *p, int width, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	put(p, width, text);
}

void page_name(struct top_page *p, int width, const char *name)
{
	unsigned most = (unsigned)(width < 0 ? -width : width), nr = 0;
	char text[256];
	size_t used = 0, n;
	mbstate_t state;
	wchar_t c;

	memset(&state, 0, sizeof(state));
	while (*name && used < sizeof(text) - 8 && (!most || nr < most)) {
		n = mbrtowc(&c, name, 6, &state);
		if (n > 6 || !n || !iswprint((wint_t)c) || wcwidth(c) != 1 ||
		    (n > 1 && !p->is_utf8)) {
			memset(&state, 0, sizeof(state));
			n = n && n <= 6 ? n : 1;
			text[used++] = '?';
		} else {
			memcpy(text + used, name, n);
			used += n;
		}
		name += n;
		nr++;
	}
	text[used] = '\0';
	put(p, width, text);
}

const char *page_scaled(char to[16], double v, double step)
{
	const char *unit = step == 1024 ? " KMGT" : " kMGT";

	while (v >= step * 0.9995 && unit[1]) {
		v /= step;
		unit++;
	}
	if (*unit == ' ')
		snprintf(to, 16, v >= 9.95 || v == 0 ? "%.0f" : "%.1f", v);
	else
		snprintf(to, 16, v < 9.95 ? "%.1f%c" : "%.0f%c", v, *unit);
	return to;
}

void page_number(struct top_page *p, int width, double v)
{
	char text[16];

	page_cell(p, width, "%s", page_scaled(text, v, 1000));
}

void page_bytes(struct top_page *p, int width, double v)
{
	char text[16];

	page_cell(p, width, "%s", page_scaled(text, v, 1024));
}

void page_rate(struct top_page *p, double v, const char *what)
{
	char text[16];

	page_cell(p, 0, "  %s %s/s", page_scaled(text, v, 1000), what);
}

int page_bar_width(const struct top_page *p)
{
	int width = 10 + ((int)p->width - 80) / 2;

	if (p->width < NARROW)
		return 0;
	return width < 4 ? 4 : width > BAR_MAX ? BAR_MAX : width;
}

void page_bar(struct top_page *p, double share)
{
	static const char *const parts[] = { "",       "\u258f", "\u258e",
					     "\u258d", "\u258c", "\u258b",
					     "\u258a", "\u2589" };
	int width = page_bar_width(p), eighths, i;
	char text[BAR_MAX * 3 + 4] = "";

	share = share > 1 ? 1 : share > 0 ? share : 0;
	eighths = (int)(share * width * 8 + 0.5);
	if (!p->is_utf8)
		eighths = eighths / 8 * 8;
	for (i = 0; i < eighths / 8; i++)
		strcat(text, p->is_utf8 ? "\u2588" : "#");
	strcat(text, parts[eighths % 8]);
	if (width)
		page_cell(p, 1, " ");
	put(p, -width, text);
}

/* Bytes of the first line of text, which has no more than width. */
static size_t first_line(const char *text, size_t width)
{
	size_t n = strcspn(text, "\n"), end = width;

	if (n <= width)
		return n;
	while (end && text[end] != ' ')
		end--;
	return end ? end : width;
}

void page_text(struct top_page *p, const char *text)
{
	size_t n;

	while (*text) {
		n = first_line(text, p->width);
		page_line(p, CLI_PLAIN);
		page_cell(p, 0, "%.*s", (int)n, text);
		text += n;
		text += *text == ' ' || *text == '\n';
	}
}
