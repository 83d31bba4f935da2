/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "doctor/program.h"

#include "probe/elf_symbol.h"
#include "run/openmp.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_CALLS 512

/* Words of a sentence, as many as fit. */
struct list {
	char text[140];
	unsigned nr, left_out;
};

/* A call of gcc's OpenMP. */
struct call {
	char name[64];
	char by[48]; /* the first file that has it */
	bool is_taken;
};

struct look {
	char program[PATH_MAX], loader[PATH_MAX];
	const char *file; /* the one that is read, without folders */
	struct call call[MAX_CALLS];
	unsigned nr_calls, nr_files;
	struct list gcc, clang, own, missing; /* files */
	bool has_gcc, has_clang, has_own; /* the file that is read */
};

static void add_word(struct list *l, const char *word)
{
	size_t used = strlen(l->text);

	l->nr++;
	if (used + strlen(word) + 3 > sizeof(l->text)) {
		l->left_out++;
		return;
	}
	snprintf(l->text + used, sizeof(l->text) - used, "%s%s",
		 used ? ", " : "", word);
}

/* "a, b and 3 more"; a list of nothing is "none". */
static const char *list_text(struct list *l, char to[180])
{
	if (l->left_out)
		snprintf(to, 180, "%s and %u more", l->text, l->left_out);
	else
		snprintf(to, 180, "%s", l->nr ? l->text : "none");
	return to;
}

/* ---- files -------------------------------------------------------------- */

/* As a shell finds it. False: nowhere. */
static bool find_program(const char *name, char to[PATH_MAX])
{
	const char *at = getenv("PATH");
	size_t size;

	if (strchr(name, '/')) {
		snprintf(to, PATH_MAX, "%s", name);
		return !access(to, R_OK);
	}
	for (; at && *at; at += size + (at[size] == ':')) {
		size = strcspn(at, ":");
		snprintf(to, PATH_MAX, "%.*s/%s", (int)size, at, name);
		if (!access(to, X_OK | R_OK))
			return true;
	}
	return false;
}

/* Links are followed: they are the user's, or the loader's. */
static int open_file(const char *path, struct elf_file *f)
{
	char real[PATH_MAX];

	return realpath(path, real) ? elf_open(0, real, f) : -errno;
}

static const char *file_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static bool starts_with(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

/* It is an OpenMP itself, or ours. */
static bool is_openmp(const char *file)
{
	return starts_with(file, "libgomp") || starts_with(file, "libomp") ||
	       starts_with(file, "libiomp") || starts_with(file, "liblkdf");
}

static void note_call(struct look *k, const char *name)
{
	struct call *c = k->call;

	for (; c < k->call + k->nr_calls; c++)
		if (!strcmp(c->name, name))
			return;
	if (k->nr_calls == MAX_CALLS)
		return;
	k->nr_calls++;
	snprintf(c->name, sizeof(c->name), "%.63s", name);
	snprintf(c->by, sizeof(c->by), "%.47s", k->file);
}

static void note_symbol(void *u, const struct elf_name *n)
{
	struct look *k = u;

	if (!n->is_defined && starts_with(n->text, "__kmpc_"))
		k->has_clang = true;
	if (!starts_with(n->text, "GOMP_") && !starts_with(n->text, "omp_"))
		return;
	if (!n->is_defined) {
		k->has_gcc |= n->text[0] == 'G';
		note_call(k, n->text);
	} else if (!strcmp(n->text, "GOMP_parallel")) {
		k->has_own = true;
	}
}

static void read_file(struct look *k, const char *path)
{
	struct elf_file f;

	k->file = file_of(path);
	if (is_openmp(k->file) || open_file(path, &f))
		return;
	k->nr_files++;
	k->has_gcc = k->has_clang = k->has_own = false;
	elf_each(&f, true, note_symbol, k);
	if (!k->has_gcc && !k->has_clang)
		elf_each(&f, false, note_symbol, k);
	elf_close(&f);
	if (k->has_own)
		add_word(&k->own, k->file);
	else if (k->has_gcc)
		add_word(&k->gcc, k->file);
	if (k->has_clang)
		add_word(&k->clang, k->file);
}

/* ---- libraries ---------------------------------------------------------- */

/* A line of the loader: "name => /path (0x7f..)", or "not found". */
static void read_line(struct look *k, char *line)
{
	char *path = strstr(line, "=> ");

	line += strspn(line, " \t");
	if (!path)
		return;
	path += 3;
	if (starts_with(path, "not found")) {
		line[strcspn(line, " \t")] = '\0';
		add_word(&k->missing, line);
		return;
	}
	path[strcspn(path, " \n")] = '\0';
	if (path[0] == '/')
		read_file(k, path);
}

/* The loader lists them, as ldd has it do, and runs nothing of the program. */
static int start_loader(const struct look *k, pid_t *pid)
{
	int fd[2];

	if (pipe2(fd, O_CLOEXEC))
		return -errno;
	*pid = fork();
	if (*pid == 0) {
		unsetenv("LD_PRELOAD");
		dup2(fd[1], 1);
		execl(k->loader, k->loader, "--list", k->program, (char *)NULL);
		_exit(127);
	}
	close(fd[1]);
	if (*pid > 0)
		return fd[0];
	close(fd[0]);
	return -errno;
}

static void read_libraries(struct look *k)
{
	char line[PATH_MAX + 128];
	FILE *from;
	pid_t pid = -1;
	int fd = start_loader(k, &pid);

	if (fd < 0)
		return;
	from = fdopen(fd, "r");
	while (from && fgets(line, sizeof(line), from))
		read_line(k, line);
	if (from)
		fclose(from);
	else
		close(fd);
	waitpid(pid, NULL, 0);
}

/* The loader of this machine is trusted, another one is not started. */
static bool knows_loader(const char *loader)
{
	char own[PATH_MAX];
	struct elf_file f;
	bool is_ours;

	if (open_file("/proc/self/exe", &f))
		return false;
	is_ours = elf_interpreter(&f, own, sizeof(own)) && !strcmp(own, loader);
	elf_close(&f);
	return is_ours;
}

static int read_program(struct look *k)
{
	struct elf_file f;
	int rc = open_file(k->program, &f);
	bool has_loader;

	if (rc)
		return rc;
	has_loader = elf_interpreter(&f, k->loader, sizeof(k->loader));
	elf_close(&f);
	if (!has_loader)
		k->loader[0] = '\0';
	read_file(k, k->program);
	if (has_loader && knows_loader(k->loader))
		read_libraries(k);
	return 0;
}

/* ---- what the preload makes of it --------------------------------------- */

static void match_call(void *u, const struct elf_name *n)
{
	struct look *k = u;
	struct call *c = k->call;

	if (!n->is_defined)
		return;
	for (; c < k->call + k->nr_calls; c++)
		c->is_taken |= !strcmp(c->name, n->text);
}

static void say_preload(struct look *k, struct finding *f)
{
	struct list left = { .nr = 0 };
	struct elf_file library;
	char path[PATH_MAX], text[180];
	unsigned i, nr_taken = 0;

	if (!openmp_library(path, sizeof(path)) || open_file(path, &library)) {
		finding_say(f, DOCTOR_WARN, "liblkdf-gomp.so.0 is not there");
		finding_fix(f, "make builds it, and installs it with lkdf");
		return;
	}
	elf_each(&library, true, match_call, k);
	elf_close(&library);
	for (i = 0; i < k->nr_calls; i++) {
		nr_taken += k->call[i].is_taken;
		if (!k->call[i].is_taken)
			add_word(&left, k->call[i].name);
	}
	finding_say(f, k->nr_calls ? DOCTOR_OK : DOCTOR_NONE,
		    "lkdf run --openmp takes %u of %u calls of gcc's OpenMP; "
		    "left to libgomp: %.140s",
		    nr_taken, k->nr_calls, list_text(&left, text));
}

/* A region that gcc before 4.9 has cut in two: lib/gomp/old.c. */
static bool is_old(const char *name)
{
	const char *end = strrchr(name, '_');

	return !strncmp(name, "GOMP_parallel_", 14) && end &&
	       !strcmp(end, "_start");
}

static void say_old(const struct look *k, struct finding *f)
{
	struct list names = { .nr = 0 };
	char word[128], text[180];
	unsigned i;

	for (i = 0; i < k->nr_calls; i++) {
		if (!is_old(k->call[i].name))
			continue;
		snprintf(word, sizeof(word), "%s (%s)", k->call[i].name,
			 k->call[i].by);
		add_word(&names, word);
	}
	if (!names.nr) {
		finding_say(f, k->nr_calls ? DOCTOR_OK : DOCTOR_NONE,
			    "no region is one of gcc before 4.9");
		return;
	}
	finding_say(f, DOCTOR_WARN,
		    "regions of gcc before 4.9 have one thread with --openmp: "
		    "%.180s",
		    list_text(&names, text));
	finding_fix(f, "compile them with a newer gcc");
}

static void say_libgomp(struct look *k, struct finding *f)
{
	char text[180];

	finding_say(f, k->gcc.nr ? DOCTOR_OK : DOCTOR_NONE,
		    "gcc's OpenMP (libgomp): used by %.180s; %u files read",
		    list_text(&k->gcc, text), k->nr_files);
	if (k->missing.nr) {
		f->level = DOCTOR_WARN;
		finding_fix(f, "install %.180s, which the loader has not found",
			    list_text(&k->missing, text));
	}
}

static void say_libomp(struct look *k, struct finding *f)
{
	char text[180];

	finding_say(f, k->clang.nr ? DOCTOR_OK : DOCTOR_NONE,
		    "clang's OpenMP (libomp): used by %.180s",
		    list_text(&k->clang, text));
	if (k->clang.nr)
		finding_fix(f, "none: lkdf run --openmp leaves it as it is%s",
			    k->gcc.nr ? ", and takes gcc's" : "");
}

static void say_linked(struct look *k, struct finding *f)
{
	char text[180];

	if (!k->loader[0]) {
		finding_say(f, DOCTOR_WARN,
			    "%.80s is linked statically: a preload is not "
			    "loaded, and --openmp does nothing",
			    file_of(k->program));
		finding_fix(f, "link it without -static");
	} else if (k->own.nr) {
		finding_say(f, DOCTOR_WARN,
			    "libgomp.a is part of %.140s, whose regions stay "
			    "libgomp's",
			    list_text(&k->own, text));
		finding_fix(f, "link with libgomp.so: no -static, no path of "
			       "libgomp.a");
	} else if (!knows_loader(k->loader)) {
		finding_say(f, DOCTOR_WARN,
			    "libraries were not looked for: %.100s is no "
			    "loader of this lkdf",
			    k->loader);
	} else {
		finding_say(f, DOCTOR_OK, "%.80s is linked dynamically",
			    file_of(k->program));
	}
}

int program_look(const char *name, struct finding found[PROGRAM_ROWS])
{
	struct look *k = calloc(1, sizeof(*k));
	int rc = -ENOMEM, nr = 0;

	if (k)
		rc = find_program(name, k->program) ? read_program(k) : -ENOENT;
	if (!rc) {
		found[nr].name = "linked";
		say_linked(k, &found[nr++]);
		found[nr].name = "libgomp";
		say_libgomp(k, &found[nr++]);
		found[nr].name = "libomp";
		say_libomp(k, &found[nr++]);
		found[nr].name = "preload";
		say_preload(k, &found[nr++]);
		found[nr].name = "old";
		say_old(k, &found[nr++]);
	}
	free(k);
	return rc ? rc : nr;
}
