/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Texts of one kernel cache, compiled for another one by NVRTC:
 *   fill FROM TO LIBRARY
 * The tests have filled FROM with the compiler for tests, whose images only the
 * driver for tests takes; what they will ask for on a card has the same keys.
 * It prints how many texts there were, and how many the compiler has refused.
 */
#include "cuda/code.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As lib/cuda/cache.c writes it; behind it "sm_90", the entry, the options,
 * each with a 0 and the last two with a digit before: is it there? The text. */
struct header {
	uint64_t magic, sum, key_bytes, entry_bytes, image_bytes;
	uint32_t compiler, pad;
};

struct text {
	int arch;
	struct lkdf_code code;
	char *file; /* all of it, where code points to */
};

/* NULL: it cannot be read. */
static char *read_file(const char *path, size_t *size)
{
	FILE *f = fopen(path, "re");
	char *bytes = NULL;
	long n;

	if (!f)
		return NULL;
	if (!fseek(f, 0, SEEK_END) && (n = ftell(f)) > 0) {
		rewind(f);
		bytes = malloc((size_t)n);
		*size = (size_t)n;
	}
	if (bytes && fread(bytes, 1, *size, f) != *size) {
		free(bytes);
		bytes = NULL;
	}
	fclose(f);
	return bytes;
}

/* The word behind the digit; the next one begins at *at. */
static const char *take_word(const char **at, const char *end)
{
	const char *word = *at, *last = memchr(word, 0, (size_t)(end - word));

	if (!last)
		return NULL;
	*at = last + 1;
	return *word == '1' ? word + 1 : NULL;
}

static bool read_text(const char *path, struct text *t)
{
	struct header h;
	const char *at, *end;
	size_t size = 0;

	memset(t, 0, sizeof(*t));
	t->file = read_file(path, &size);
	if (!t->file || size < sizeof(h))
		return false;
	memcpy(&h, t->file, sizeof(h));
	if (h.key_bytes > size - sizeof(h))
		return false;
	at = t->file + sizeof(h);
	end = at + h.key_bytes;
	if (sscanf(at, "sm_%d", &t->arch) != 1)
		return false;
	at += strlen(at) + 1;
	t->code.device = "cuda";
	t->code.entry = take_word(&at, end);
	t->code.options = take_word(&at, end);
	t->code.image = at;
	t->code.bytes = (uint64_t)(end - at);
	return at < end;
}

/* 0: it is in the cache. */
static int fill_one(const char *path, const char *to, const char *library)
{
	char why[2048] = "";
	struct code_log log = { why, sizeof(why) };
	struct code_made made;
	struct text t;
	int rc = -1;

	if (read_text(path, &t)) {
		struct nvrtc_settings s = { library, to, t.arch, 0 };

		rc = nvrtc_compile(&s, &t.code, &made, log);
	}
	if (rc)
		printf("%s: not compiled: %.*s\n", path,
		       (int)strcspn(why, "\n"), why);
	if (!rc) {
		free(made.image);
		free(made.entry);
	}
	free(t.file);
	return rc;
}

int main(int argc, char **argv)
{
	int nr = 0, nr_refused = 0;
	char path[4096];
	struct dirent *e;
	DIR *dir = argc == 4 ? opendir(argv[1]) : NULL;

	if (!dir) {
		fprintf(stderr, "usage: fill FROM TO LIBRARY\n");
		return 2;
	}
	while ((e = readdir(dir))) {
		if (!strstr(e->d_name, ".cubin"))
			continue;
		snprintf(path, sizeof(path), "%s/%s", argv[1], e->d_name);
		nr_refused += fill_one(path, argv[2], argv[3]) != 0;
		nr++;
	}
	closedir(dir);
	printf("%d texts, %d not compiled\n", nr, nr_refused);
	return nr && nr_refused < nr ? 0 : 1;
}
