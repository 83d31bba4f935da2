/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A process that means harm to tools which look at it:
 *
 *	hostile TEMPLATE MODE
 *
 * TEMPLATE is a runtime's memfd "lkdf:stats"; this process has a copy of it.
 *
 *	open     the copy can be made shorter
 *	shrink   the copy can be made shorter, and is, again and again
 *	answer   whoever asks is sent /etc/passwd as what lkdf_why() says
 *	escapes  all texts are orders for a terminal, the process's name too
 *	fifo     instead of the copy it has a FIFO whose path is that of a memfd
 *
 * It says "up" and ends with the process that has started it; 77: it cannot.
 */
#include <lkdf/format.h>

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

/* A title, a screen that is cleared, C1, what is no UTF-8, a new line. */
#define ORDERS                        \
	"\033]0;x\007\033[2J\302\233" \
	"1m\377\n"

static char *memory;
static size_t size;

static struct lkdf_stats_header *header(void)
{
	return (void *)memory;
}

static int read_template(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st))
		return -1;
	size = (size_t)st.st_size;
	memory = malloc(size);
	return memory && pread(fd, memory, size, 0) == (ssize_t)size ? 0 : -1;
}

/* The copy, with what was changed in it. */
static int make_copy(int seals)
{
	int fd = memfd_create(LKDF_STATS_NAME, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	header()->pid = (uint32_t)getpid();
	if (fd < 0 || write(fd, memory, size) != (ssize_t)size ||
	    fcntl(fd, F_ADD_SEALS, seals))
		exit(1);
	return fd;
}

static void say_up(void)
{
	puts("up");
	fflush(stdout);
}

static void shrink(bool does_so)
{
	int fd = make_copy(0);

	say_up();
	while (!does_so)
		pause();
	for (;;)
		if (ftruncate(fd, 0) || ftruncate(fd, (off_t)size) ||
		    pwrite(fd, memory, 4096, 0) != 4096)
			exit(1);
}

/* Rows of a table from an offset on have their texts at from to end. */
static void fill_rows(uint64_t offset, uint64_t row, uint32_t nr, size_t from,
		      size_t end)
{
	const char text[] = ORDERS;
	uint32_t i;
	size_t k;

	for (i = 0; i < nr; i++)
		for (k = from; k < end; k++)
			memory[offset + i * row + k] =
				text[(k - from) % (sizeof(text) - 1)];
}

/* Every third counter: tools look others up by their names. */
static void fill_counters(const struct lkdf_stats_header *h)
{
	fill_rows(h->counter_table_offset, 3 * h->counter_desc_size,
		  (h->nr_counters + 2) / 3, 0,
		  sizeof(struct lkdf_stats_counter));
}

static void order_about(void)
{
	struct lkdf_stats_header *h = header();

	fill_counters(h);
	fill_rows(h->name_table_offset, h->name_size, h->name_cap, 0,
		  h->name_size);
	memcpy(h->runtime, ORDERS, sizeof(ORDERS));
	prctl(PR_SET_NAME, "a\033[2J\302\233"
			   "b\177");
	make_copy(F_SEAL_SHRINK | F_SEAL_GROW);
	say_up();
	pause();
}

static void send_file(int to, int fd)
{
	struct lkdf_answer answer = {
		.magic = LKDF_STATS_MAGIC,
		.version = LKDF_STATS_VERSION,
	};
	union {
		struct cmsghdr align;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .bytes = { 0 } };
	struct iovec part = { &answer, sizeof(answer) };
	struct msghdr m = {
		.msg_iov = &part,
		.msg_iovlen = 1,
		.msg_control = control.bytes,
		.msg_controllen = sizeof(control.bytes),
	};

	control.align.cmsg_level = SOL_SOCKET;
	control.align.cmsg_type = SCM_RIGHTS;
	control.align.cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(&control.align), &fd, sizeof(fd));
	sendmsg(to, &m, MSG_NOSIGNAL);
}

static void answer_all(void)
{
	int file = open("/etc/passwd", O_RDONLY | O_CLOEXEC), to;
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	struct lkdf_stats_header *h = header();
	struct lkdf_ask ask;

	snprintf(h->ask, sizeof(h->ask), "hostile-%d", (int)getpid());
	memcpy(at.sun_path + 1, h->ask, strlen(h->ask));
	if (bind(fd, (struct sockaddr *)&at,
		 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 +
			     strlen(h->ask))) ||
	    listen(fd, 8))
		exit(1);
	make_copy(F_SEAL_SHRINK | F_SEAL_GROW);
	say_up();
	while ((to = accept(fd, NULL, NULL)) >= 0) {
		if (recv(to, &ask, sizeof(ask), 0) > 0)
			send_file(to, file);
		close(to);
	}
}

/* A mount that is gone from all paths has its own root as "/". */
static void hold_fifo(void)
{
	char dir[] = "/tmp/lkdf-hostile-XXXXXX", path[128];
	int fd;

	if (!mkdtemp(dir) || unshare(CLONE_NEWNS) ||
	    mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", dir, "tmpfs", 0, NULL))
		exit(77);
	snprintf(path, sizeof(path), "%s/memfd:" LKDF_STATS_NAME, dir);
	if (mkfifo(path, 0600))
		exit(77);
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || umount2(dir, MNT_DETACH))
		exit(77);
	rmdir(dir);
	say_up();
	pause();
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[2] : "";

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (argc < 3 || read_template(argv[1]))
		return 1;
	if (!strcmp(mode, "shrink") || !strcmp(mode, "open"))
		shrink(mode[0] == 's');
	else if (!strcmp(mode, "answer"))
		answer_all();
	else if (!strcmp(mode, "escapes"))
		order_about();
	else if (!strcmp(mode, "fifo"))
		hold_fifo();
	return 1;
}
