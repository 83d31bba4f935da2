/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "main/completion.h"

#include <lkdf/lkdf.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* A row of lkdf_describe(rt, "options", "text"): "io=auto (auto rings)". */
struct option_row {
	char *name, *range, *help;
};

/* The table as this library writes it, without the environment's values. */
static FILE *open_table(void)
{
	int fd = memfd_create("lkdf:options", MFD_CLOEXEC);
	struct lkdf *rt = NULL;
	FILE *f = NULL;

	if (fd >= 0 && !lkdf_open("workers=1,pin=no,final", &rt) &&
	    !lkdf_describe(rt, "options", "text", fd) &&
	    !lseek(fd, 0, SEEK_SET))
		f = fdopen(fd, "r");
	if (rt)
		lkdf_close(rt);
	if (!f && fd >= 0)
		close(fd);
	return f;
}

static bool read_option(FILE *f, char *line, char *help, int size,
			struct option_row *o)
{
	char *end;

	if (!fgets(line, size, f) || !fgets(help, size, f))
		return false;
	help[strcspn(help, "\n")] = '\0';
	o->name = line;
	o->help = help + (*help == '\t');
	o->range = strrchr(line, '(');
	end = o->range ? strrchr(o->range, ')') : NULL;
	line[strcspn(line, "=")] = '\0';
	if (!end)
		return false;
	*end = '\0';
	o->range++;
	return true;
}

/* A word behind the kept bytes of what is typed; none is longer than this. */
static void offer(int kept, const char *token, const char *word,
		  const char *end, const char *help)
{
	char text[256];
	int nr = snprintf(text, sizeof(text), "%.*s%s%s", kept, token, word,
			  end);

	if ((size_t)nr < sizeof(text))
		completion_offer(text, help);
}

/* The words of "yes or no", "auto rings threads"; a number and a text have
 * none. */
static void offer_words(const struct option_row *o, int kept, const char *token)
{
	char *at, *rest = NULL;

	if (strstr(o->range, " .. ") || !strcmp(o->range, "text"))
		return;
	for (at = strtok_r(o->range, " ", &rest); at;
	     at = strtok_r(NULL, " ", &rest)) {
		if (!strcmp(at, "or"))
			continue;
		offer(kept, token, at, "", o->help);
	}
}

static const char *behind_last(const char *text, const char *breaks)
{
	const char *at = text + strlen(text);

	while (at > text && !strchr(breaks, at[-1]))
		at--;
	return at;
}

void completion_options(const char *typed, const char *token)
{
	const char *item = behind_last(typed, ",");
	size_t name = strcspn(item, "=");
	bool has_name = item[name] == '=';
	int kept = (int)(behind_last(token, has_name ? "=," : ",") - token);
	char line[1024], help[1024];
	FILE *f = open_table();
	struct option_row o;

	while (f && read_option(f, line, help, sizeof(line), &o)) {
		if (!has_name) {
			offer(kept, token, o.name, "=", o.help);
		} else if (strlen(o.name) == name &&
			   !strncmp(o.name, item, name)) {
			offer_words(&o, kept, token);
		}
	}
	if (f)
		fclose(f);
}

static void offer_list(const char *path, const char *help)
{
	FILE *f = fopen(path, "re");
	char list[256] = "";

	if (f && fgets(list, sizeof(list), f))
		list[strcspn(list, "\n")] = '\0';
	if (f)
		fclose(f);
	if (list[0])
		completion_offer(list, help);
}

void completion_cpus(void)
{
	char path[64], help[64];
	int node;

	offer_list("/sys/devices/system/cpu/online", "all that are online");
	for (node = 0; node < 1024; node++) {
		snprintf(path, sizeof(path),
			 "/sys/devices/system/node/node%d/cpulist", node);
		snprintf(help, sizeof(help), "those of node %d", node);
		offer_list(path, help);
	}
}
