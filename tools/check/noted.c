/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "check/noted.h"

#include <stdio.h>
#include <string.h>

#define TEXT_SIZE 320

/* A field of the first line of that sort. False: there is no such line. */
static bool find_note(const char *notes, const char *sort, int field, char *to,
		      size_t size)
{
	const char *at = notes ? strstr(notes, sort) : NULL;

	to[0] = '\0';
	while (at && at != notes && at[-1] != '\n')
		at = strstr(at + 1, sort);
	if (!at)
		return false;
	for (; field; field--)
		at += strcspn(at, "\t\n") + 1;
	snprintf(to, size, "%.*s", (int)strcspn(at, "\t\n"), at);
	return true;
}

bool notes_runtime(const char *notes, const char *program, bool has_tsan)
{
	char text[TEXT_SIZE];

	if (!find_note(notes, "runtime\t", 1, text, sizeof(text))) {
		fprintf(stderr,
			"lkdf check: nothing was checked: %s has opened no "
			"runtime, or its library is not of version %s\n",
			program, LKDF_VERSION);
		return false;
	}
	if (strcmp(text, LKDF_VERSION))
		fprintf(stderr,
			"lkdf check: the library of %s is of version %s, and "
			"lkdf of version %s\n",
			program, text, LKDF_VERSION);
	find_note(notes, "runtime\t", 2, text, sizeof(text));
	if (has_tsan && !strcmp(text, "none"))
		fprintf(stderr,
			"lkdf check: the library does not see the sanitizer of "
			"%s, which is linked by -static-libtsan: races were "
			"not looked for; link it without, or with -rdynamic\n",
			program);
	if (has_tsan && !strcmp(text, "linked"))
		fprintf(stderr,
			"lkdf check: races were not looked for: %s has liblkdf.a, "
			"and liblkdf.so is needed\n",
			program);
	return true;
}

void notes_wishes(const char *notes)
{
	char text[TEXT_SIZE];

	if (find_note(notes, "blocking\t", 1, text, sizeof(text)))
		fprintf(stderr,
			"lkdf check: bodies of kinds that may block, as \"%s\", "
			"ran in line, one after another\n",
			text);
	if (find_note(notes, "gang", 0, text, sizeof(text)))
		fprintf(stderr,
			"lkdf check: a gang was refused (-EOPNOTSUPP): its "
			"members cannot run one after another\n");
}

bool notes_have_copy(const char *notes, unsigned long address)
{
	unsigned long begin, size;

	for (notes = notes ? strstr(notes, "copy\t") : NULL; notes;
	     notes = strstr(notes + 1, "\ncopy\t")) {
		notes += *notes == '\n';
		if (sscanf(notes, "copy\t%*[^\t\n]\t%lx\t%lu", &begin, &size) ==
			    2 &&
		    address - begin < size)
			return true;
	}
	return false;
}
