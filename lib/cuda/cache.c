/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "cuda/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC 0x3161637564616b6cull /* "lkducac1" as little endian has it */
#define MAX_BYTES (256u << 20) /* of a file */
#define NAME_SIZE 64
#define BLANKS " \t\n" /* between options */

/* A file: this, the key, the name of the kernel, the image. */
struct header {
	uint64_t magic, sum; /* sum: of all behind this header */
	uint64_t key_bytes, entry_bytes, image_bytes; /* entry_bytes: with its
						       * 0; 0: none */
	uint32_t compiler, pad;
};

struct bytes {
	char *at;
	size_t size;
};

/* FNV-1a of 64 bits (Fowler, Noll, Vo): against damage, not against malice. */
static uint64_t sum_of(const void *p, size_t size, uint64_t from)
{
	const unsigned char *b = p;
	size_t i;

	for (i = 0; i < size; i++)
		from = (from ^ b[i]) * 0x100000001b3ull;
	return from;
}

/* Each part ends with a 0; a part that is not there differs from an empty one.
 */
static struct bytes make_key(const struct cache_key *k)
{
	const struct lkdf_code *c = k->code;
	size_t text = c->bytes ? strnlen(c->image, c->bytes) : strlen(c->image);
	const char *entry = c->entry ? c->entry : "";
	const char *options = c->options ? c->options : "";
	size_t room = text + strlen(entry) + strlen(options) + 64;
	struct bytes key = { malloc(room), 0 };
	int n;

	if (!key.at)
		return key;
	n = snprintf(key.at, room, "sm_%d%c%d%s%c%d%s%c", k->arch, 0,
		     !!c->entry, entry, 0, !!c->options, options, 0);
	memcpy(key.at + n, c->image, text);
	key.size = (size_t)n + text;
	return key;
}

/* 128 bits, as two sums that begin differently. */
static void name_file(const struct bytes *key, char name[NAME_SIZE])
{
	snprintf(name, NAME_SIZE, "%016llx%016llx.cubin",
		 (unsigned long long)sum_of(key->at, key->size,
					    0xcbf29ce484222325ull),
		 (unsigned long long)sum_of(key->at, key->size, MAGIC));
}

/* ---- other files -------------------------------------------------------- */

/* Lines that end with a backslash go on in the next one. */
static void join_lines(char *text)
{
	char *to = text;
	size_t n;

	while (*text) {
		n = *text != '\\'			 ? 0
		    : text[1] == '\n'			 ? 2
		    : text[1] == '\r' && text[2] == '\n' ? 3
							 : 0;
		text += n;
		if (!n)
			*to++ = *text++;
	}
	*to = 0;
}

static const char *skip_blanks(const char *at)
{
	const char *stop;

	for (;;) {
		at += strspn(at, " \t\f\v");
		if (strncmp(at, "/*", 2))
			return at;
		stop = strstr(at + 2, "*/");
		if (!stop)
			return at;
		at = stop + 2;
	}
}

static bool begins_with(const char *at, const char *word)
{
	return !strncmp(at, word, strlen(word));
}

/* At a sign of the preprocessor: does another file come in there? */
static bool is_directive(const char *at)
{
	static const char *const signs[] = { "#", "%:", "?\?=" };
	size_t i;

	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (!begins_with(at, signs[i]))
			continue;
		at = skip_blanks(at + strlen(signs[i]));
		return begins_with(at, "include") ||
		       begins_with(at, "import") || begins_with(at, "embed");
	}
	return false;
}

static bool text_includes(const char *text)
{
	for (; *text; text++)
		if (is_directive(text) || begins_with(text, "__has_include"))
			return true;
	return false;
}

/* Options that name files or what is in a file: -include, -use-pch=F. */
static bool option_reads(const char *option)
{
	static const char *const words[] = { "include", "pch", "isystem",
					     "file", "imacros" };
	size_t i, n = strcspn(option, BLANKS);

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(option, n, words[i], strlen(words[i])))
			return true;
	return false;
}

static bool options_read(const char *o)
{
	for (o += strspn(o, BLANKS); *o; o += strspn(o, BLANKS)) {
		if (option_reads(o))
			return true;
		o += strcspn(o, BLANKS);
	}
	return false;
}

bool cache_reads_files(const struct lkdf_code *c)
{
	char *text = c->bytes ? strndup(c->image, c->bytes) : strdup(c->image);
	bool reads = true;

	if (text) {
		join_lines(text);
		reads = text_includes(text) ||
			(c->options && options_read(c->options));
	}
	free(text);
	return reads;
}

/* Ours, and nobody else may write it. */
static bool is_ours(int fd, mode_t type)
{
	struct stat s;

	return !fstat(fd, &s) && (s.st_mode & S_IFMT) == type &&
	       s.st_uid == geteuid() && !(s.st_mode & (S_IWGRP | S_IWOTH));
}

static int open_directory(const char *directory)
{
	int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0 && !is_ours(fd, S_IFDIR)) {
		close(fd);
		fd = -1;
	}
	return fd;
}

/* ---- reading ------------------------------------------------------------ */

static bool read_whole(int fd, struct bytes *out)
{
	struct stat s;
	ssize_t n = 1;
	size_t used = 0;

	if (fstat(fd, &s) || s.st_size < (off_t)sizeof(struct header) ||
	    s.st_size > (off_t)MAX_BYTES)
		return false;
	out->size = (size_t)s.st_size;
	out->at = malloc(out->size);
	while (out->at && used < out->size && n > 0) {
		n = read(fd, out->at + used, out->size - used);
		if (n < 0 && errno == EINTR)
			n = 1;
		else if (n > 0)
			used += (size_t)n;
	}
	return out->at && used == out->size;
}

static bool is_sound(const struct bytes *file, struct header *h)
{
	uint64_t left = file->size - sizeof(*h);

	memcpy(h, file->at, sizeof(*h));
	if (h->magic != MAGIC || h->key_bytes > left)
		return false;
	left -= h->key_bytes;
	if (h->entry_bytes > left || h->image_bytes != left - h->entry_bytes ||
	    !h->image_bytes)
		return false;
	return h->sum ==
	       sum_of(file->at + sizeof(*h), file->size - sizeof(*h), 0);
}

static bool is_of_key(const struct bytes *file, const struct header *h,
		      const struct cache_key *k, const struct bytes *key)
{
	const char *entry = file->at + sizeof(*h) + h->key_bytes;

	return (!k->compiler || (uint32_t)k->compiler == h->compiler) &&
	       h->key_bytes == key->size &&
	       !memcmp(file->at + sizeof(*h), key->at, key->size) &&
	       (!h->entry_bytes || !entry[h->entry_bytes - 1]) &&
	       !h->entry_bytes == !k->code->entry;
}

static bool take_image(const struct bytes *file, const struct header *h,
		       struct code_made *out)
{
	const char *entry = file->at + sizeof(*h) + h->key_bytes;

	out->bytes = h->image_bytes;
	out->image = malloc(h->image_bytes);
	out->entry = h->entry_bytes ? strdup(entry) : NULL;
	if (!out->image || (h->entry_bytes && !out->entry)) {
		free(out->image);
		free(out->entry);
		return false;
	}
	memcpy(out->image, entry + h->entry_bytes, h->image_bytes);
	return true;
}

static bool read_image(int fd, const struct cache_key *k,
		       const struct bytes *key, struct code_made *out)
{
	struct bytes file = { NULL, 0 };
	struct header h;
	bool has = is_ours(fd, S_IFREG) && read_whole(fd, &file) &&
		   is_sound(&file, &h) && is_of_key(&file, &h, k, key) &&
		   take_image(&file, &h, out);

	free(file.at);
	return has;
}

bool cache_find(const char *directory, const struct cache_key *key,
		struct code_made *out)
{
	int at = open_directory(directory), fd;
	struct bytes k = make_key(key);
	char name[NAME_SIZE];
	bool has = false;

	if (at >= 0 && k.at) {
		name_file(&k, name);
		fd = openat(at, name,
			    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
		has = fd >= 0 && read_image(fd, key, &k, out);
		if (fd >= 0)
			close(fd);
	}
	if (at >= 0)
		close(at);
	free(k.at);
	return has;
}

/* ---- writing ------------------------------------------------------------ */

static struct bytes make_file(const struct cache_key *k,
			      const struct bytes *key,
			      const struct code_made *made)
{
	struct header h = {
		.magic = MAGIC,
		.key_bytes = key->size,
		.entry_bytes = made->entry ? strlen(made->entry) + 1 : 0,
		.image_bytes = made->bytes,
		.compiler = (uint32_t)k->compiler,
	};
	struct bytes f = { NULL, sizeof(h) };
	char *to;

	f.size += h.key_bytes + h.entry_bytes + h.image_bytes;
	f.at = f.size > MAX_BYTES ? NULL : malloc(f.size);
	if (!f.at)
		return f;
	to = f.at + sizeof(h);
	memcpy(to, key->at, key->size);
	to += key->size;
	if (made->entry)
		memcpy(to, made->entry, h.entry_bytes);
	memcpy(to + h.entry_bytes, made->image, made->bytes);
	h.sum = sum_of(f.at + sizeof(h), f.size - sizeof(h), 0);
	memcpy(f.at, &h, sizeof(h));
	return f;
}

static bool write_whole(int fd, const struct bytes *f)
{
	size_t used = 0;
	ssize_t n;

	while (used < f->size) {
		n = write(fd, f->at + used, f->size - used);
		if (n > 0)
			used += (size_t)n;
		else if (n == 0 || errno != EINTR)
			return false;
	}
	return true;
}

/* A file that an ended process left beside is written anew. */
static void write_file(int at, const char *name, const struct bytes *f)
{
	char beside[NAME_SIZE + 24];
	int fd;
	bool is_whole;

	snprintf(beside, sizeof(beside), ".%s.%d.%d", name, getpid(), gettid());
	unlinkat(at, beside, 0);
	fd = openat(at, beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return;
	is_whole = write_whole(fd, f);
	is_whole &= !close(fd);
	if (!is_whole || renameat(at, beside, at, name))
		unlinkat(at, beside, 0);
}

void cache_keep(const char *directory, const struct cache_key *key,
		const struct code_made *made)
{
	struct bytes k = make_key(key), f = { NULL, 0 };
	char name[NAME_SIZE];
	int at;

	mkdir(directory, 0700);
	at = open_directory(directory);
	if (at >= 0 && k.at) {
		name_file(&k, name);
		f = make_file(key, &k, made);
		if (f.at)
			write_file(at, name, &f);
	}
	if (at >= 0)
		close(at);
	free(f.at);
	free(k.at);
}
