/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The page that embed.sh makes of page.html, page.css, page.js and timeline.js.
 */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include <stddef.h>

extern const char page_frame[], page_style[], page_script[];
extern const size_t page_frame_size, page_style_size, page_script_size;
/* SHA-256 in base64, as in a content security policy. */
extern const char page_style_hash[], page_script_hash[];

#endif
