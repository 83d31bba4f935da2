/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Text of recordings and commands in pages. */
#ifndef REPORT_HTML_TEXT_H
#define REPORT_HTML_TEXT_H

#include <stdio.h>

/* A reader of the page takes no character of the text for markup. */
void html_put_text(const char *text, FILE *out);

#endif
