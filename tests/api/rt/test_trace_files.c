/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A file a runtime: several runtimes of a process, forked children, and what
 * was there before.
 */
#include "tests/api/api.h"

#include <dirent.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/lkdf-test-XXXXXX";

static struct lkdf *open_with(const char *name)
{
	char options[160];

	snprintf(options, sizeof(options), "workers=1,trace=%s/%s", dir, name);
	return api_open(options);
}

static bool is_there(const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return !stat(path, &st) && st.st_size > 64;
}

static ino_t number_of(const char *name)
{
	char path[160];
	struct stat st;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return stat(path, &st) ? 0 : st.st_ino;
}

/* How many there are; all of them go. */
static int clear(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	char path[600];
	int nr = 0;

	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
		unlink(path);
		nr++;
	}
	closedir(d);
	return nr;
}

static void two_at_a_time_have_two_files(void)
{
	struct lkdf *a = open_with("run.lkdf"), *b = open_with("run.lkdf");

	is(lkdf_close(a), 0, "the first closes");
	is(lkdf_close(b), 0, "the second closes");
	ok(is_there("run.lkdf"), "the first has the name");
	ok(is_there("run.1.lkdf"), "the second has a number");
	is(clear(), 2, "there is nothing else");
}

static void one_after_the_other_have_two_files(void)
{
	ino_t first;

	lkdf_close(open_with("run"));
	first = number_of("run");
	lkdf_close(open_with("run"));
	is(number_of("run"), first, "the file of the first stays");
	ok(is_there("run.1"), "the second has a number");
	lkdf_close(open_with("run"));
	ok(is_there("run.2"), "so has the third");
	is(clear(), 3, "there is nothing else");
}

static int in_child(const char *name)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(lkdf_close(open_with(name)) != 0);
	waitpid(pid, &status, 0);
	ok(WIFEXITED(status) && !WEXITSTATUS(status), "a child records");
	return (int)pid;
}

static void a_forked_child_has_its_own(void)
{
	char name[64];
	int pid, other;
	ino_t first;

	lkdf_close(open_with("run.lkdf"));
	first = number_of("run.lkdf");
	pid = in_child("run.lkdf");
	other = in_child("run.lkdf");
	is(number_of("run.lkdf"), first, "the parent's file stays");
	snprintf(name, sizeof(name), "run.%d.lkdf", pid);
	ok(is_there(name), "the child's has its process number");
	snprintf(name, sizeof(name), "run.%d.lkdf", other);
	ok(is_there(name), "and the next child's another");
	is(clear(), 3, "there is nothing else");
}

/* The program itself, by exec: a process of its own, no fork without exec. */
static int run_alone(const char *path, const char *name)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		execl(path, path, dir, name, NULL);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void the_next_process_replaces_the_file(const char *self)
{
	ino_t first;

	is(run_alone(self, "run.lkdf"), 0, "a process records");
	first = number_of("run.lkdf");
	is(run_alone(self, "run.lkdf"), 0, "and another one");
	ok(number_of("run.lkdf") != first, "which replaces the file");
	is(clear(), 1, "there is no second one");
}

static void one_beside_a_recording_does_not(const char *self)
{
	struct lkdf *a = open_with("run.lkdf");
	ino_t first = number_of("run.lkdf"), second;

	is(run_alone(self, "run.lkdf"), 0, "a process records beside us");
	is(number_of("run.lkdf"), first, "our file stays");
	second = number_of("run.1.lkdf");
	ok(second != 0, "it has a number");
	is(run_alone(self, "run.lkdf"), 0, "so does a second");
	is(number_of("run.1.lkdf"), second, "which leaves that alone");
	ok(is_there("run.2.lkdf"), "and takes the next");
	is(lkdf_close(a), 0, "we close");
	is(clear(), 3, "there is nothing else");
}

static void patterns_say_where_numbers_go(void)
{
	struct lkdf *a = open_with("%n-%p%%.lkdf");
	struct lkdf *b = open_with("%n-%p%%.lkdf");
	struct lkdf *rt;
	char name[64];

	lkdf_close(a);
	lkdf_close(b);
	snprintf(name, sizeof(name), "1-%d%%.lkdf", (int)getpid());
	ok(is_there(name), "%s is there", name);
	name[0] = '2';
	ok(is_there(name), "%s is there", name);
	is(clear(), 2, "there is nothing else");
	is(lkdf_open("workers=1,trace=/tmp/a%x", &rt), -EINVAL,
	   "an unknown letter is refused");
	ok(strstr(lkdf_errmsg(), "%x") != NULL, "by name: %s", lkdf_errmsg());
}

static void ranks_have_their_numbers(void)
{
	static const char *const names[] = { "SLURM_PROCID", "PMI_RANK",
					     "PMIX_RANK",
					     "OMPI_COMM_WORLD_RANK" };
	char number[16], name[32];
	int i;

	for (i = 0; i < 4; i++)
		unsetenv(names[i]);
	lkdf_close(open_with("r%r.lkdf"));
	ok(is_there("r0.lkdf"), "a program of one rank is rank 0");
	/* Each goes before those that are set already. */
	for (i = 0; i < 4; i++) {
		snprintf(number, sizeof(number), "%d", i + 3);
		setenv(names[i], number, 1);
		lkdf_close(open_with("r%r.lkdf"));
		snprintf(name, sizeof(name), "r%d.lkdf", i + 3);
		ok(is_there(name), "%s is the rank", names[i]);
		setenv(names[i], "-1", 1);
		lkdf_close(open_with("r%r.lkdf"));
	}
	for (i = 0; i < 4; i++)
		unsetenv(names[i]);
	is(clear(), 9, "what is no rank is 0");
}

int main(int argc, char **argv)
{
	unsetenv("LKDF_TRACE");
	if (argc == 3) {
		snprintf(dir, sizeof(dir), "%s", argv[1]);
		return lkdf_close(open_with(argv[2])) != 0;
	}
	tap_start(100);
	if (!mkdtemp(dir))
		return 1;
	two_at_a_time_have_two_files();
	one_after_the_other_have_two_files();
	a_forked_child_has_its_own();
	the_next_process_replaces_the_file(argv[0]);
	one_beside_a_recording_does_not(argv[0]);
	patterns_say_where_numbers_go();
	ranks_have_their_numbers();
	is(rmdir(dir), 0, "no file is left");
	return tap_end();
}
