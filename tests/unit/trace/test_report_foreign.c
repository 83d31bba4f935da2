/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files of somebody else, as the tool reads symbols from them: one that gets
 * shorter, a FIFO, a link, a file of a program that does not answer. And texts,
 * of which a terminal obeys nothing.
 */
#include "foreign.h"
#include "probe/elf_symbol.h"
#include "tests/tap.h"
#include "utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>

static char dir[] = "/tmp/lkdf-foreign-XXXXXX";
static char path[256];

static const char *in_dir(const char *name)
{
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static bool copy_self(const char *to)
{
	char buf[65536];
	int in = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	int out = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	ssize_t n;

	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			break;
	close(in);
	close(out);
	return !n;
}

/* Where main() is in this file. */
static uint64_t address_of_main(struct elf_file *f)
{
	struct elf_symbol s;
	uint64_t at, from, to;

	if (!elf_range(f, &from, &to))
		return 0;
	for (at = from; at < to; at += 4)
		if (elf_find(f, false, at, &s) && !strcmp(s.name, "main"))
			return at;
	return 0;
}

static void a_file_that_shrinks_ends_nobody(void)
{
	struct elf_symbol s;
	struct elf_file f;
	uint64_t at, from, to;
	char id[128];

	ok(copy_self(in_dir("file")), "a file with symbols");
	is(elf_open(0, path, &f), 0, "it opens");
	at = address_of_main(&f);
	ok(at, "main() is found");
	elf_close(&f);
	is(elf_open(0, path, &f), 0, "it opens again");
	is(truncate(path, 0), 0, "somebody makes it shorter");
	ok(!elf_find(&f, false, at, &s), "no symbol is found");
	ok(!elf_build_id(&f, id, sizeof(id)), "no build id");
	ok(!elf_range(&f, &from, &to), "nothing that is loaded");
	elf_close(&f);
	is(elf_open(0, path, &f), -EBADMSG, "an empty file is none");
}

static void what_is_no_file_is_refused(void)
{
	is(mkfifo(in_dir("fifo"), 0600), 0, "a FIFO that nobody writes");
	is(foreign_file(0, path), -EBADMSG, "is not waited for");
	is(foreign_file(0, dir), -EBADMSG, "a folder is refused");
	is(foreign_file(0, "/"), -EBADMSG, "the root is");
	is(foreign_file(0, "/dev/null"), -EBADMSG, "a device is");
	is(symlink("file", in_dir("link")), 0, "a link to a file");
	is(foreign_file(0, path), -EBADMSG, "is not followed");
	is(foreign_file(0, in_dir("none")), -ENOENT, "what is not there");
	is(foreign_file(0, "file"), -EBADMSG, "a path has to be whole");
	is(foreign_file(0, in_dir("../x/file")), -EBADMSG, "without ..");
}

/* ---- a file system whose program does not answer ------------------------ */

static bool start_server(int fd)
{
	struct {
		struct fuse_in_header in;
		char bytes[65536];
	} request;
	struct {
		struct fuse_out_header head;
		struct fuse_init_out init;
	} answer = {
		.head = { .len = sizeof(answer) },
		.init = { .major = FUSE_KERNEL_VERSION,
			  .minor = 31,
			  .max_write = 4096 },
	};

	if (read(fd, &request, sizeof(request)) < (ssize_t)sizeof(request.in))
		return false;
	answer.head.unique = request.in.unique;
	return write(fd, &answer, sizeof(answer)) == sizeof(answer);
}

/* In a child, whose mounts go with it. */
static int look_into_fuse(void)
{
	char options[96], file[300];
	int fd;

	if (unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return 77;
	fd = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options),
		 "fd=%d,rootmode=40000,user_id=%u,group_id=%u", fd,
		 (unsigned)getuid(), (unsigned)getgid());
	mkdir(in_dir("fuse"), 0755);
	if (fd < 0 || mount("lkdf", path, "fuse", 0, options) ||
	    !start_server(fd))
		return 77;
	snprintf(file, sizeof(file), "%s/a/file", path);
	return foreign_file(0, file) == -EREMOTE &&
			       foreign_file((int)getpid(), file) == -EREMOTE
		       ? 0
		       : 1;
}

static void a_program_that_serves_files_is_not_asked(void)
{
	int status = -1;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		watchdog_set(10);
		_exit(look_into_fuse());
	}
	waitpid(pid, &status, 0);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
		skip("files of a program", "no mount of FUSE here");
	else
		is(status, 0, "a file that a program serves is left alone");
}

/* ---- memfds ------------------------------------------------------------- */

static int make_memfd(int seals)
{
	int fd = memfd_create("m", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (write(fd, "text\n", 5) != 5 || fcntl(fd, F_ADD_SEALS, seals))
		return -1;
	return fd;
}

static void only_sealed_memory_is_taken(void)
{
	int open_fd = make_memfd(0), fd = make_memfd(F_SEAL_SHRINK);
	int whole = make_memfd(F_SEAL_SHRINK | F_SEAL_WRITE);
	int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const uint8_t *base;
	uint64_t size = 0;
	char *text = NULL;

	is(foreign_map(open_fd, 1, &base, &size), -EBADMSG,
	   "memory that may get shorter is not mapped");
	is(foreign_map(file, 1, &base, &size), -EBADMSG, "nor is a file");
	is(foreign_map(fd, 6, &base, &size), -EBADMSG, "nor what is too short");
	is(foreign_map(fd, 5, &base, &size), 0, "sealed memory is");
	is(size, 5, "all of it");
	munmap((void *)(uintptr_t)base, size);
	is(foreign_text(fd, 100, &text), -EBADMSG,
	   "a text that may change is none");
	is(foreign_text(file, 1 << 30, &text), -EBADMSG, "nor is a file");
	is(foreign_text(whole, 4, &text), -EBADMSG, "nor what is too long");
	is(foreign_text(whole, 5, &text), 0, "one that is sealed is");
	has(text ? text : "", "text", "it is read");
	free(text);
	close(open_fd);
	close(fd);
	close(whole);
	close(file);
}

/* ---- texts -------------------------------------------------------------- */

static void becomes(const char *from, const char *to, const char *what)
{
	char text[64];

	snprintf(text, sizeof(text), "%s", from);
	utf8_tame(text);
	if (!ok(!strcmp(text, to), "%s", what))
		printf("# \"%s\"\n", text);
}

static void no_text_is_obeyed(void)
{
	char lines[] = "a\nb\tc\0d";

	becomes("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
		"what can be printed stays");
	becomes("\033[2J\007\177\r\n\t", "?[2J?????", "control bytes go");
	becomes("\xc2\x9b"
		"31m\xc2\x80\xc2\xa0",
		"??31m??\xc2\xa0", "so do those of C1, and no more");
	becomes("\x9b\xff\xc3(\xe2\x82\xed\xa0\x80\xc0\xaf",
		"???"
		"("
		"???????",
		"and what is no UTF-8");
	becomes("\xe2\x80\xae"
		"a\xe2\x81\xa6"
		"b\xe2\x80\xa8",
		"???a???b???", "and what turns text round");
	becomes("a\xe2\x82", "a??", "a character that is cut");
	utf8_tame_bytes(lines, 7, "\n");
	ok(!memcmp(lines, "a\nb?c?d", 7), "lines stay where they may");
}

static void remove_folder(void)
{
	const char *const names[] = { "file", "fifo", "link", "fuse" };
	size_t i;

	for (i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		remove(in_dir(names[i]));
	rmdir(dir);
}

int main(void)
{
	tap_start(60);
	no_text_is_obeyed();
	only_sealed_memory_is_taken();
	if (!mkdtemp(dir)) {
		skip("files", "no folder in /tmp");
		return tap_end();
	}
	a_file_that_shrinks_ends_nobody();
	what_is_no_file_is_refused();
	a_program_that_serves_files_is_not_asked();
	remove_folder();
	return tap_end();
}
