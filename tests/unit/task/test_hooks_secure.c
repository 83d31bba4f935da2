/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * LKDF_HOOKS does not load a library into a program that runs with the rights
 * of somebody else: a copy of this program with the set-user-ID bit of one user
 * without rights is run by another one. Internal for the static library: the
 * loader finds no shared one of a build folder for such a program.
 */
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <lkdf/lkdf.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define OWNER 65533
#define CALLER 65534
#define LIBRARY "hooks_count.so"

static int block(uint64_t begin, uint64_t end, void *u)
{
	(void)begin;
	(void)end;
	(void)u;
	return 0;
}

/* As the child: what the program would do. No exit handler of a checker. */
static void be_program(void)
{
	struct lkdf_range r = { .end = 10 };
	struct lkdf *rt = NULL;
	int rc = lkdf_open("workers=1,pin=no", &rt);

	if (!rc)
		rc = lkdf_for(rt, r, block, NULL);
	if (!rc)
		rc = lkdf_close(rt);
	printf("secure %lu, error %d\n", getauxval(AT_SECURE), -rc);
	fflush(NULL);
	_exit(rc ? 1 : 0);
}

static bool copy(const char *from, const char *dir, const char *name,
		 mode_t mode)
{
	char to[600];
	char buf[65536];
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	ssize_t n = -1;

	snprintf(to, sizeof(to), "%s/%s", dir, name);
	out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (in >= 0 && out >= 0 && (n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	if (n || fchown(out, OWNER, OWNER) || fchmod(out, mode))
		n = -1;
	close(in);
	close(out);
	return !n;
}

/* Runs the copy as CALLER; what it says, both streams, is in text. */
static int run(const char *dir, const char *name, char *text, size_t size)
{
	char path[600], library[600];
	int out[2], status;
	size_t used = 0;
	ssize_t n;
	pid_t pid;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	snprintf(library, sizeof(library), "%s/" LIBRARY, dir);
	if (pipe(out))
		return -1;
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		setenv("LKDF_HOOKS", library, 1);
		if (setgid(CALLER) || setuid(CALLER))
			_exit(2);
		execl(path, path, "program", (char *)NULL);
		_exit(3);
	}
	close(out[1]);
	while ((n = read(out[0], text + used, size - 1 - used)) > 0)
		used += (size_t)n;
	text[used] = '\0';
	close(out[0]);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : -1;
}

static void the_variable_is_ignored(const char *dir)
{
	char text[4096];

	is(run(dir, "plain", text, sizeof(text)), 0, "the program runs");
	has(text, "secure 0", "with its caller's rights");
	has(text, "hooks: 1 loops", "it loads the library of LKDF_HOOKS");
	is(run(dir, "setuid", text, sizeof(text)), 0,
	   "with rights of another user it runs as well");
	if (!strstr(text, "secure 1"))
		skip("it loads no library", "no set-user-ID bits here");
	else
		ok(!strstr(text, "hooks:"), "it loads no library: %s", text);
}

static void in_a_folder(const char *library)
{
	const char *names[] = { "plain", "setuid", LIBRARY };
	char dir[] = "/tmp/lkdf-secure-XXXXXX", path[600];
	size_t i;

	if (!mkdtemp(dir) || chmod(dir, 0755)) {
		skip("LKDF_HOOKS is ignored", "no folder in /tmp");
		return;
	}
	if (copy("/proc/self/exe", dir, "plain", 0755) &&
	    copy("/proc/self/exe", dir, "setuid", 04755) &&
	    copy(library, dir, LIBRARY, 0755))
		the_variable_is_ignored(dir);
	else
		skip("LKDF_HOOKS is ignored", "the program is not copied");
	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
}

int main(int argc, char **argv)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	char library[512];

	if (argc > 1 && !strcmp(argv[1], "program"))
		be_program();
	tap_start(60);
	snprintf(library, sizeof(library), "%s/examples/" LIBRARY, build);
	if (geteuid())
		skip("LKDF_HOOKS is ignored", "not root");
	else if (access(library, R_OK))
		skip("LKDF_HOOKS is ignored", "no library of the examples");
	else
		in_a_folder(library);
	return tap_end();
}
