/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "report/html_text.h"

void html_put_text(const char *text, FILE *out)
{
	for (; *text; text++) {
		if (*text == '<')
			fputs("&lt;", out);
		else if (*text == '>')
			fputs("&gt;", out);
		else if (*text == '&')
			fputs("&amp;", out);
		else
			putc(*text, out);
	}
}
