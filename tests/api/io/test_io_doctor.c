/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * lkdf doctor says why operations run on threads and what there is to do: with
 * each error that the kernel may have for rings, as a seccomp profile gives it.
 */
#include "tests/api/io.h"
#include "tests/forbid.h"

#include <sys/wait.h>

static char lkdf[PATH_MAX + 16];

/* What doctor writes when rings are refused; 0: they are not. */
static void ask(int error, const char *option, char *to, size_t size)
{
	size_t used = 0;
	pid_t pid;
	ssize_t n;
	int fd[2];

	must(pipe(fd));
	pid = fork();
	if (!pid) {
		dup2(fd[1], 1);
		close(fd[0]);
		close(fd[1]);
		setenv("LKDF_IO", option, 1);
		if (error)
			if (forbid_call(SYS_io_uring_setup, (unsigned)error))
				_exit(4);
		execl(lkdf, "lkdf", "doctor", (char *)NULL);
		_exit(5);
	}
	close(fd[1]);
	while (used < size - 1 &&
	       (n = read(fd[0], to + used, size - 1 - used)) > 0)
		used += (size_t)n;
	to[used] = '\0';
	close(fd[0]);
	waitpid(pid, NULL, 0);
}

static void each_error_has_its_fix(void)
{
	static const struct {
		int error;
		const char *option, *why, *fix;
	} rows[] = {
		{ EPERM, "steal", "on threads: EPERM", "fix: " },
		{ ENOSYS, "steal", "on threads: ENOSYS", "CONFIG_IO_URING" },
		{ EMFILE, "steal", "on threads: EMFILE", "ulimit -n" },
		{ ENOMEM, "steal", "on threads: ENOMEM", "ulimit -l" },
		{ EINVAL, "steal", "on threads: EINVAL", "6.1 or later" },
		{ 0, "threads", "on threads, as told: io=threads", "" },
	};
	char text[16384];
	size_t i;

	for (i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		ask(rows[i].error, rows[i].option, text, sizeof(text));
		has(text, rows[i].why, "%s: why", rows[i].why);
		has(text, rows[i].fix, "%s: what to do", rows[i].why);
	}
}

int main(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *end;

	self[n > 0 ? n : 0] = '\0';
	end = strrchr(self, '/');
	if (end)
		*end = '\0';
	snprintf(lkdf, sizeof(lkdf), "%s/../../../lkdf", self);
	tap_start(60);
	if (access(lkdf, X_OK))
		skip("doctor says why", "lkdf is not built here");
	else
		each_error_has_its_fix();
	return tap_end();
}
