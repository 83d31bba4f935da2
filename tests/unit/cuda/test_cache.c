/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The cache of compiled texts: a text finds its own image and no other one;
 * files that are damaged, of others, or of another compiler are none; writers
 * at one time do not meet; a directory that cannot be written is only read.
 */
#include "cuda/cache.h"

#include "tests/tap.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WRITERS 4
#define TIMES 50

#define must_write(x) ((x) ? (void)0 : abort())

static char dir[64], file[400];

static const struct lkdf_code text = { .image = "__global__ void f() {}",
				       .entry = "f" };

static void keep(const struct lkdf_code *c, int arch, int compiler,
		 const char *image)
{
	const struct cache_key k = { c, arch, compiler };
	char name[] = "_Z1fv", bytes[64];
	struct code_made made = { bytes, strlen(image) + 1,
				  c->entry ? name : NULL };

	strcpy(bytes, image);
	cache_keep(dir, &k, &made);
}

/* The image; "": there is none. */
static const char *find(const struct lkdf_code *c, int arch, int compiler)
{
	const struct cache_key k = { c, arch, compiler };
	static char image[64];
	struct code_made made;

	image[0] = 0;
	if (!cache_find(dir, &k, &made))
		return image;
	snprintf(image, sizeof(image), "%s%s%s", made.image,
		 made.entry ? " " : "", made.entry ? made.entry : "");
	free(made.image);
	free(made.entry);
	return image;
}

static bool finds(const char *want)
{
	const char *got = find(&text, 90, 13000);

	if (!strcmp(got, want))
		return true;
	printf("# got \"%s\"\n", got);
	return false;
}

/* The files, but for . and ..; the last one's path is in file. */
static int nr_files(void)
{
	struct dirent *e;
	DIR *d = opendir(dir);
	int nr = 0;

	while (d && (e = readdir(d))) {
		if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, ".."))
			continue;
		snprintf(file, sizeof(file), "%s/%s", dir, e->d_name);
		nr++;
	}
	if (d)
		closedir(d);
	return nr;
}

static void clear(void)
{
	while (nr_files())
		unlink(file);
}

static void a_text_finds_its_own_image(void)
{
	struct lkdf_code c = text;
	struct stat s;

	ok(finds(""), "a directory that is not there has nothing");
	keep(&text, 90, 13000, "one");
	ok(finds("one _Z1fv"), "what was kept is found, with its name");
	is(nr_files(), 1, "in one file");
	ok(!stat(dir, &s) && (s.st_mode & 0777) == 0700,
	   "the directory is the user's alone");
	ok(!stat(file, &s) && (s.st_mode & 0777) == 0600, "and so is the file");
	ok(!find(&text, 80, 13000)[0], "another card has none");
	ok(!find(&text, 90, 12090)[0], "another compiler has none");
	ok(find(&text, 90, 0)[0], "without a compiler any will do");
	c.options = "";
	ok(!find(&c, 90, 13000)[0], "other options have none");
	c.options = NULL;
	c.entry = NULL;
	ok(!find(&c, 90, 13000)[0], "nor has no entry");
	c.entry = "f";
	c.image = "__global__ void f() {} ";
	ok(!find(&c, 90, 13000)[0], "nor another text");
	c.bytes = strlen(text.image);
	ok(find(&c, 90, 13000)[0], "the length that is given counts");
	keep(&text, 90, 13000, "two");
	ok(finds("two _Z1fv") && nr_files() == 1,
	   "a later one takes its place");
	keep(&text, 90, 12090, "old");
	ok(finds("") && nr_files() == 1, "also of another compiler");
	c = (struct lkdf_code){ .image = "x" };
	keep(&c, 90, 13000, "three");
	ok(!strcmp(find(&c, 90, 13000), "three"), "no entry, no name");
	clear();
}

/* Each byte in turn is another one, then each length. */
static void damage_is_seen(void)
{
	char bytes[1024], byte;
	ssize_t size, i;
	int fd, nr = 0;

	keep(&text, 90, 13000, "one");
	nr_files();
	fd = open(file, O_RDWR);
	size = read(fd, bytes, sizeof(bytes));
	for (i = 0; i < size; i++) {
		byte = (char)(bytes[i] ^ 0x40);
		must_write(pwrite(fd, &byte, 1, i) == 1);
		nr += !find(&text, 90, 13000)[0];
		must_write(pwrite(fd, &bytes[i], 1, i) == 1);
	}
	/* 4 bytes of the header are not used. */
	is(nr, size - 4, "a byte that differs is seen");
	ok(finds("one _Z1fv"), "the file as it was is found");
	for (i = size - 1, nr = 0; i >= 0; i--) {
		must_write(!ftruncate(fd, i));
		nr += !find(&text, 90, 13000)[0];
	}
	is(nr, size, "a file that is cut off is none");
	close(fd);
	keep(&text, 90, 13000, "two");
	ok(finds("two _Z1fv"), "and is written again");
	clear();
}

static void others_are_not_trusted(void)
{
	char other[sizeof(file) + 8];

	keep(&text, 90, 13000, "one");
	nr_files();
	chmod(file, 0622);
	ok(finds(""), "a file that others may write is none");
	chmod(file, 0600);
	chmod(dir, 0722);
	ok(finds(""), "nor is one in a directory that others may write");
	chmod(dir, 0700);
	ok(finds("one _Z1fv"), "without that it is");
	snprintf(other, sizeof(other), "%s.x", file);
	must_write(!rename(file, other) && !symlink(other, file));
	ok(finds(""), "a link is none");
	unlink(file);
	must_write(!mkfifo(file, 0600));
	ok(finds(""), "nor is a pipe, which nobody waits for");
	clear();
	if (geteuid()) {
		skip("a file of another user is none", "not root");
		return;
	}
	keep(&text, 90, 13000, "one");
	nr_files();
	must_write(!chown(file, 1, 1));
	ok(finds(""), "a file of another user is none");
	clear();
}

static void *write_often(void *arg)
{
	char image[32];
	int i;

	for (i = 0; i < TIMES; i++) {
		snprintf(image, sizeof(image), "image %d", (int)(long)arg);
		keep(&text, 90, 13000, image);
	}
	return NULL;
}

static void writers_do_not_meet(void)
{
	pthread_t t[WRITERS];
	int nr = 0;
	long i;

	keep(&text, 90, 13000, "image 0");
	for (i = 0; i < WRITERS; i++)
		pthread_create(&t[i], NULL, write_often, (void *)i);
	for (i = 0; i < TIMES; i++)
		nr += !strncmp(find(&text, 90, 13000), "image ", 6);
	for (i = 0; i < WRITERS; i++)
		pthread_join(t[i], NULL);
	is(nr, TIMES, "whoever reads meanwhile has one of their images");
	is(nr_files(), 1, "one file is left, and none beside it");
	clear();
}

static void no_room_is_no_error(void)
{
	char was[sizeof(dir)];

	strcpy(was, dir);
	strcpy(dir, "/proc/no/such");
	keep(&text, 90, 13000, "one");
	ok(finds(""), "a directory that cannot be made");
	strcpy(dir, "/proc/self/cmdline");
	keep(&text, 90, 13000, "one");
	ok(finds(""), "a file in its place");
	strcpy(dir, was);
}

static bool reads(const char *image, const char *options)
{
	return cache_reads_files(
		&(struct lkdf_code){ .image = image, .options = options });
}

static void texts_with_files_are_not_kept(void)
{
	static const char *const with[] = {
		"#include <cuda_fp16.h>",
		"int a; /* b */\n \t#\tinclude \"c.h\"\n",
		"#/* a */include \"c.h\"",
		"#inc\\\nlude \"c.h\"",
		"#inc\\\r\nlude \"c.h\"",
		"%:include <c>",
		"#import <c>",
		"static char b[] = {\n#embed \"c.bin\"\n};",
		"#if __has_include(<c>)\n#endif",
	};
	static const char *const options[] = {
		"-include a.h", "-DA=1\t--pre-include=a.h",
		"-isystem /a",	"--use-pch=a.pch",
		"-imacros a.h",
	};
	size_t i;

	for (i = 0; i < sizeof(with) / sizeof(with[0]); i++)
		ok(reads(with[i], NULL), "a text: %zu", i);
	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		ok(reads("", options[i]), "options: %s", options[i]);
	ok(!reads("#define A \"\\n\"\n/* include */ int includes;\n", NULL),
	   "a text of itself");
	ok(!reads("int a;", " -DA=1 -I/a --use_fast_math\n"),
	   "a folder from which nothing comes");
	ok(!cache_reads_files(&(struct lkdf_code){ .image = "int a;\n#include",
						   .bytes = 6 }),
	   "what is behind the text is none of it");
}

int main(void)
{
	char base[] = "/tmp/test_cache.XXXXXX";

	tap_start(60);
	if (!mkdtemp(base))
		return 1;
	snprintf(dir, sizeof(dir), "%s/made", base);
	a_text_finds_its_own_image();
	damage_is_seen();
	others_are_not_trusted();
	writers_do_not_meet();
	no_room_is_no_error();
	texts_with_files_are_not_kept();
	rmdir(dir);
	rmdir(base);
	return tap_end();
}
