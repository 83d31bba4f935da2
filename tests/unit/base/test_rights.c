/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program with raised rights runs no code of its caller: a copy of this
 * program with the set-user-ID bit of one user without rights is run by another
 * one, and the program itself makes itself not dumpable. Each door is shown to
 * be open in a program without raised rights. Internal for the static library:
 * the loader finds no shared one of a build folder for such a program.
 */
#include "core/runtime.h"
#include "offload/devices.h"
#include "tests/tap.h"
#include "topo/topo.h"

#include <errno.h>
#include <fcntl.h>
#include <lkdf/lkdf.h>
#include <stdint.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#define OWNER 65533
#define CALLER 65534
/* hwloc takes plug-ins by this name; the others take any. */
#define LIBRARY "hwloc_says_loaded.so"

/* ---- the program -------------------------------------------------------- */

static void say_runtime(const struct lkdf *rt)
{
	printf("workers %d, ask %d, source %s, devices %s\n", rt->nr_workers,
	       rt->ask != NULL, rt->topo->source, rt->devices->why);
}

/* As the child: what the program would do. No exit handler of a checker. */
static void be_program(const char *options, bool is_dumpable)
{
	struct lkdf *rt = NULL;
	int rc;

	if (!is_dumpable)
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
	rc = lkdf_open(options, &rt);
	printf("secure %lu, error %d %s\n", getauxval(AT_SECURE), -rc,
	       rc ? lkdf_errmsg() : "");
	if (!rc) {
		say_runtime(rt);
		rc = lkdf_close(rt);
	}
	fflush(NULL);
	_exit(rc ? 1 : 0);
}

/* ---- how it is run ------------------------------------------------------ */

static char dir[] = "/tmp/lkdf-rights-XXXXXX";
static char said[8192]; /* by the last program, both streams */

static bool copy(const char *from, const char *name, mode_t mode)
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
	if (n || (!geteuid() && fchown(out, OWNER, OWNER)) || fchmod(out, mode))
		n = -1;
	close(in);
	close(out);
	return !n;
}

/* What a caller would set who has a library in the folder. */
static void set_variables(void)
{
	static char library[600], vendors[600], trace[600];

	snprintf(library, sizeof(library), "%s/" LIBRARY, dir);
	snprintf(vendors, sizeof(vendors), "%s/icd", dir);
	snprintf(trace, sizeof(trace), "%s/trace.lkdf", dir);
	setenv("HWLOC_PLUGINS_PATH", dir, 1);
	setenv("OCL_ICD_VENDORS", vendors, 1);
	setenv("LKDF_TRACE", trace, 1);
	setenv("LKDF_WORKERS", "2", 1);
	setenv("LKDF_ASK", "yes", 1);
}

/* As the child of run(). */
static void start(const char *name, const char *options, const char *how)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	if (!geteuid() && (setgid(CALLER) || setuid(CALLER)))
		_exit(2);
	execl(path, path, "program", options, how, (char *)NULL);
	_exit(3);
}

/* The program's exit status; hooks: with LKDF_HOOKS too. */
static int run(const char *name, const char *options, const char *how,
	       bool hooks)
{
	char library[600];
	size_t used = 0;
	int out[2], status;
	ssize_t n;
	pid_t pid;

	snprintf(library, sizeof(library), "%s/" LIBRARY, dir);
	if (pipe(out))
		return -1;
	fflush(stdout);
	pid = fork();
	if (!pid) {
		dup2(out[1], 1);
		dup2(out[1], 2);
		set_variables();
		if (hooks)
			setenv("LKDF_HOOKS", library, 1);
		start(name, options, how);
	}
	close(out[1]);
	while ((n = read(out[0], said + used, sizeof(said) - 1 - used)) > 0)
		used += (size_t)n;
	said[used] = '\0';
	close(out[0]);
	return waitpid(pid, &status, 0) == pid && WIFEXITED(status)
		       ? WEXITSTATUS(status)
		       : -1;
}

/* ---- what is looked at -------------------------------------------------- */

static void says_not(const char *part, const char *what)
{
	if (!ok(!strstr(said, part), "%s", what))
		printf("# %s is in \"%s\"\n", part, said);
}

/* Is there the door at all, and does it lead there? */
static bool is_open(const char *options, bool hooks)
{
	run("plain", options, "dumpable", hooks);
	return strstr(said, "LOADED") != NULL;
}

static void a_door_is_shut(const char *door, const char *options, bool hooks,
			   const char *name, const char *how)
{
	if (!is_open(options, hooks)) {
		skip(door, "this machine's library does not have it");
		return;
	}
	is(run(name, options, how, hooks), 0, "%s: the %s %s program runs",
	   door, how, name);
	says_not("LOADED", "and loads nothing of its caller");
}

static void variables_are_left_alone(const char *name, const char *how)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/trace.lkdf", dir);
	unlink(path);
	is(run(name, "workers=1,pin=no", how, false), 0, "%s %s", how, name);
	has(said, "workers 1, ask 0, source no hwloc: ",
	    "no variable is read, no tool answered, hwloc not asked");
	has(said, "all LKDF_ variables are ignored", "the log tells");
	is(access(path, F_OK), -1, "no file is written");
	is(run(name, "workers=1,pin=no,ask=yes,final", how, false), 0, "%s %s",
	   how, name);
	has(said, "ask 1", "the program's own options may ask for that");
	says_not("ignored", "and for silence");
}

static void libraries_are_refused(const char *name, const char *how)
{
	char options[700];

	is(run(name, "topology=numa:2 core:2,workers=1", how, false), 1,
	   "a made-up machine is refused");
	has(said, "error 1 topo: ", "as -EPERM");
	snprintf(options, sizeof(options), "hooks=%s/" LIBRARY, dir);
	is(run(name, options, how, false), 1, "hooks are refused");
	has(said, "error 1 hooks: ", "as -EPERM");
	is(run(name, "devices=opencl,workers=1", how, false), 0,
	   "devices of the library are none");
	has(said, "devices their libraries are not loaded: this pro",
	    "and why is told");
}

static void a_program_is_careful(const char *name, const char *how)
{
	a_door_is_shut("HWLOC_PLUGINS_PATH", "workers=1,pin=no", false, name,
		       how);
	a_door_is_shut("OCL_ICD_VENDORS", "workers=1,pin=no,devices=opencl",
		       false, name, how);
	a_door_is_shut("LKDF_HOOKS", "workers=1,pin=no", true, name, how);
	variables_are_left_alone(name, how);
	libraries_are_refused(name, how);
}

static void a_set_user_id_program_is_careful(void)
{
	if (geteuid()) {
		skip("a set-user-ID program", "not root");
		return;
	}
	run("setuid", "workers=1,pin=no", "dumpable", false);
	if (strstr(said, "secure 1"))
		a_program_is_careful("setuid", "dumpable");
	else
		skip("a set-user-ID program", "no set-user-ID bits here");
}

static void in_the_folder(const char *library)
{
	char text[700];
	FILE *f;

	if (!copy("/proc/self/exe", "plain", 0755) ||
	    !copy("/proc/self/exe", "setuid", 04755) ||
	    !copy(library, LIBRARY, 0755)) {
		skip("raised rights", "the program is not copied");
		return;
	}
	snprintf(text, sizeof(text), "%s/icd", dir);
	mkdir(text, 0755);
	snprintf(text, sizeof(text), "%s/icd/e.icd", dir);
	f = fopen(text, "we");
	if (f) {
		fprintf(f, "%s/" LIBRARY "\n", dir);
		fclose(f);
	}
	a_program_is_careful("plain", "undumpable");
	a_set_user_id_program_is_careful();
}

static void remove_folder(void)
{
	const char *const names[] = { "plain",	   "setuid", LIBRARY,
				      "icd/e.icd", "icd",    "trace.lkdf" };
	char path[600];
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", dir, names[i]);
		remove(path);
	}
	rmdir(dir);
}

int main(int argc, char **argv)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	char library[512];

	if (argc > 3 && !strcmp(argv[1], "program"))
		be_program(argv[2], !strcmp(argv[3], "dumpable"));
	tap_start(60);
	snprintf(library, sizeof(library), "%s/tests/unit/base/says_loaded.so",
		 build);
	if (!mkdtemp(dir) || chmod(dir, 01777)) {
		skip("raised rights", "no folder in /tmp");
	} else {
		in_the_folder(library);
		remove_folder();
	}
	return tap_end();
}
