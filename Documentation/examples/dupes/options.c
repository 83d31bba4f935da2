/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The user's options, see options.h.
 */
#include "options.h"
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORKERS 4096
#define MAX_OPEN_FILES 65536
#define MIN_BUFFERS ((uint64_t)1 << 20)
#define MAX_BUFFERS ((uint64_t)1 << 40)

static const char usage[] =
	"usage: dupes [options] directory...\n"
	"\n"
	"Finds files of equal content and says what the copies waste.\n"
	"Nothing is changed; no symbolic link is followed.\n"
	"\n"
	"  -w, --workers N     worker threads (default: one for each CPU)\n"
	"  -t, --top N         print the N sets that waste most, 0: all\n"
	"                      (default 10, with --json all)\n"
	"  -m, --min-size N    leave out files below N bytes; N may end in\n"
	"                      K, M or G (default 1)\n"
	"  -f, --open-files N  at most N files and directories open at a time,\n"
	"                      2 to 65536, each with 64 KiB of memory; fewer\n"
	"                      where ulimit -n says so (default 64)\n"
	"  -b, --buffers SIZE  at most SIZE bytes of further memory for what\n"
	"                      is read of long files; 1M or more (default 16M)\n"
	"  -j, --json          print one JSON object; a byte of a name that is\n"
	"                      not UTF-8 is written as \\udcNN\n"
	"  -q, --quiet         no progress, no list of unreadable files\n"
	"      --no-hash       compare all files of one size with each other;\n"
	"                      slow, for those who trust no hash to tell\n"
	"                      files apart\n"
	"  -h, --help          print this\n"
	"\n"
	"Exit status: 0 done; 1 an argument could not be read or the search\n"
	"failed; 2 wrong usage; 130 interrupted, what was found is printed.\n"
	"Files and directories below that could not be read, vanished or changed\n"
	"are counted and named with the reason, on stderr and in the JSON object;\n"
	"they change neither the rest of the result nor the exit status.\n";

/* A number up to most, with K, M or G behind it where allowed. */
static int read_number(const char *s, bool suffix, uint64_t most, uint64_t *out)
{
	static const char units[] = "KMG";
	const char *unit;
	uint64_t n;
	int shift = 0;
	char *end;

	errno = 0;
	n = strtoull(s, &end, 10);
	if (!isdigit((unsigned char)*s) || errno)
		return -EINVAL;
	unit = suffix && *end ? strchr(units, toupper((unsigned char)*end))
			      : NULL;
	if (unit) {
		shift = 10 * (int)(unit - units + 1);
		end++;
	}
	if (*end || n > most >> shift)
		return -EINVAL;
	*out = n << shift;
	return 0;
}

static int take(struct options *o, int opt, const char *arg)
{
	uint64_t n;
	int rc = 0;

	switch (opt) {
	case 'w':
		rc = read_number(arg, false, MAX_WORKERS, &n);
		if (rc || !n)
			return -EINVAL;
		o->workers = n;
		break;
	case 't':
		return read_number(arg, false, UINT64_MAX, &o->top);
	case 'm':
		return read_number(arg, true, INT64_MAX, &o->min_size);
	case 'f':
		rc = read_number(arg, false, MAX_OPEN_FILES, &o->open_files);
		return rc || o->open_files < 2 ? -EINVAL : 0;
	case 'b':
		rc = read_number(arg, true, MAX_BUFFERS, &o->buffers);
		return rc || o->buffers < MIN_BUFFERS ? -EINVAL : 0;
	case 'j':
		o->json = true;
		break;
	case 'q':
		o->quiet = true;
		break;
	case 'n':
		o->no_hash = true;
		break;
	}
	return rc;
}

int options_read(struct options *o, int argc, char **argv)
{
	static const struct option known[] = {
		{ "workers", required_argument, NULL, 'w' },
		{ "top", required_argument, NULL, 't' },
		{ "min-size", required_argument, NULL, 'm' },
		{ "open-files", required_argument, NULL, 'f' },
		{ "buffers", required_argument, NULL, 'b' },
		{ "json", no_argument, NULL, 'j' },
		{ "quiet", no_argument, NULL, 'q' },
		{ "no-hash", no_argument, NULL, 'n' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int opt;

	*o = (struct options){ .top = UINT64_MAX, .min_size = 1 };
	o->open_files = 64;
	o->buffers = (uint64_t)16 << 20;
	while ((opt = getopt_long(argc, argv, "w:t:m:f:b:jqh", known, NULL)) >=
	       0) {
		if (opt == 'h') {
			fputs(usage, stdout);
			return 1;
		}
		if (opt == '?')
			goto hint;
		if (take(o, opt, optarg)) {
			fprintf(stderr, "dupes: bad number for -%c\n", opt);
			goto hint;
		}
	}
	if (o->top == UINT64_MAX)
		o->top = o->json ? 0 : 10;
	o->path = argv + optind;
	if (*o->path)
		return 0;
	fputs("dupes: which directory?\n", stderr);
hint:
	fputs("Try: dupes --help\n", stderr);
	return -EINVAL;
}
