/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Files and devices that fail: a full disk, a size limit, a device with read
 * errors, a file that gets shorter, a connection that is reset, a descriptor
 * that is closed. Each error is that of the task that met it, the other tasks
 * go on, and no descriptor is left behind. What needs a mount of its own is
 * left out, and says so, where mounts are refused.
 */
#include "tests/api/io/io_fuse.h"
#include "tests/api/io_fault.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>

#define NR_MIXED 32
#define DISK_SIZE (64 << 10)
#define NR_CUT 50

static char disk[PATH_MAX], fuse[PATH_MAX];
static bool has_disk;
static pid_t fuse_pid;

static int open_in(const char *dir, const char *name, int flags)
{
	char path[PATH_MAX + 16];
	int fd;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	fd = open(path, flags | O_CLOEXEC, 0600);
	if (fd < 0) {
		printf("Bail out! %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return fd;
}

/* Every second write fails; the others do not. */
static void errors_among_others(struct lkdf *rt, const char *how, int bad_fd,
				int64_t bad_off, int64_t error)
{
	static char bytes[4096];
	int good_fd = io_file("among", "", 0), i, nr_right = 0;
	struct lkdf_event done[NR_MIXED];
	int64_t result[NR_MIXED];

	for (i = 0; i < NR_MIXED; i++)
		io_start(rt,
			 IO(.op = LKDF_IO_WRITE, .fd = i % 2 ? bad_fd : good_fd,
			    .buf = bytes, .len = sizeof(bytes),
			    .off = i % 2 ? bad_off : i / 2 * 4096),
			 &result[i], &done[i]);
	for (i = 0; i < NR_MIXED; i++)
		nr_right += !lkdf_event_wait(done[i], -1) &&
			    result[i] == (i % 2 ? error : 4096);
	is(nr_right, NR_MIXED, "%s: each task has its own result", how);
	close(good_fd);
	unlink(io_path("among"));
}

static void a_disk_is_full(struct lkdf *rt, const char *how)
{
	static char from[2 * DISK_SIZE];
	int fd = open_in(disk, "file", O_CREAT | O_RDWR);
	int other = open_in(disk, "other", O_CREAT | O_RDWR);
	off_t end;

	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			  .len = sizeof(from))),
	   -ENOSPC, "%s: a write that does not fit", how);
	end = lseek(fd, 0, SEEK_END);
	ok(end > 0 && end <= DISK_SIZE, "%s: what did fit is there", how);
	is(io_error(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			   .len = 4096, .off = end)),
	   -ENOSPC, "%s: the task fails with it", how);
	has(lkdf_errmsg(), "write, descriptor", "%s: and says what", how);
	is(io_call(rt,
		   IO(.op = LKDF_IO_FALLOCATE, .fd = fd, .len = sizeof(from))),
	   -ENOSPC, "%s: fallocate", how);
	errors_among_others(rt, how, other, DISK_SIZE, -ENOSPC);
	must(ftruncate(fd, 0));
	is(io_call(rt,
		   IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from, .len = 4096)),
	   4096, "%s: with room again it goes on", how);
	close(other);
	close(fd);
	unlinkat(AT_FDCWD, strcat(strcpy(from, disk), "/file"), 0);
	unlinkat(AT_FDCWD, strcat(strcpy(from, disk), "/other"), 0);
}

/* As a full disk, where none can be mounted. */
static void a_file_may_not_grow(struct lkdf *rt, const char *how)
{
	static char from[3 * DISK_SIZE];
	int fd = io_file("limit", "", 0);
	struct rlimit old, l;

	getrlimit(RLIMIT_FSIZE, &old);
	l = old;
	l.rlim_cur = DISK_SIZE;
	must(setrlimit(RLIMIT_FSIZE, &l));
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			  .len = sizeof(from))),
	   -EFBIG, "%s: a write beyond the limit of sizes", how);
	is(lseek(fd, 0, SEEK_END), DISK_SIZE, "%s: up to there it is done",
	   how);
	errors_among_others(rt, how, fd, DISK_SIZE, -EFBIG);
	must(setrlimit(RLIMIT_FSIZE, &old));
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = fd, .buf = from,
			  .len = sizeof(from))),
	   sizeof(from), "%s: without the limit", how);
	close(fd);
	unlink(io_path("limit"));
}

static bool is_as_served(const char *bytes, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (bytes[i] != io_fuse_byte(i))
			return false;
	return true;
}

static void a_device_has_read_errors(struct lkdf *rt, const char *how)
{
	static char to[IO_FUSE_SIZE];
	struct stat file;
	struct iovec iov[2] = { { to, 1000 }, { to + 1000, 200000 } };
	int good = open_in(fuse, "good", O_RDWR);
	int bad = open_in(fuse, "bad", O_RDWR);

	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = good, .buf = to,
			  .len = sizeof(to))),
	   sizeof(to), "%s: a good file", how);
	ok(is_as_served(to, sizeof(to)), "%s: its bytes", how);
	memset(to, 0, sizeof(to));
	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = bad, .buf = to,
			  .len = sizeof(to))),
	   -EIO, "%s: an error behind the first part is the result", how);
	ok(is_as_served(to, IO_FUSE_PART), "%s: the first part is there", how);
	is(io_call(rt,
		   IO(.op = LKDF_IO_READV, .fd = bad, .buf = iov, .len = 2)),
	   -EIO, "%s: readv", how);
	is(io_error(rt, IO(.op = LKDF_IO_READ, .fd = bad, .buf = to, .len = 1,
			   .off = IO_FUSE_PART)),
	   -EIO, "%s: the task fails with it", how);
	errors_among_others(rt, how, bad, IO_FUSE_PART, -EIO);
	is(io_call(rt, IO(.op = LKDF_IO_WRITE, .fd = bad, .buf = to,
			  .len = sizeof(to))),
	   -EIO, "%s: write", how);
	is(io_call(rt, IO(.op = LKDF_IO_FSYNC, .fd = bad)), -EIO, "%s: fsync",
	   how);
	is(io_call(rt, IO(.op = LKDF_IO_FSYNC, .fd = good)), 0,
	   "%s: fsync of another file", how);
	must(fstat(bad, &file));
	is(io_call(rt, IO(.op = LKDF_IO_CLOSE, .fd = bad)), -EIO, "%s: close",
	   how);
	ok(!io_is_still(bad, &file), "%s: it is closed all the same", how);
	close(good);
}

/* Its size says more than there is: as if it were cut between two reads. */
static void a_file_ends_early(struct lkdf *rt, const char *how)
{
	static char to[IO_FUSE_SIZE];
	int fd = open_in(fuse, "short", O_RDONLY);

	is(io_call(rt, IO(.op = LKDF_IO_READ, .fd = fd, .buf = to,
			  .len = sizeof(to))),
	   IO_FUSE_PART, "%s: what is left is the result", how);
	ok(is_as_served(to, IO_FUSE_PART), "%s: with its bytes", how);
	close(fd);
}

struct cutter {
	pthread_t thread;
	atomic_int nr_cuts, is_over;
	int fd;
};

static void *cut_main(void *arg)
{
	struct cutter *c = arg;

	while (!atomic_load(&c->is_over)) {
		if (ftruncate(c->fd, 3) || ftruncate(c->fd, IO_FUSE_SIZE))
			break;
		atomic_fetch_add(&c->nr_cuts, 1);
	}
	return NULL;
}

static bool is_zero(const char *bytes, size_t size)
{
	return !size || (!bytes[0] && !memcmp(bytes, bytes + 1, size - 1));
}

/* No error, and no byte that was never in the file. */
static void a_file_is_cut_and_grows(struct lkdf *rt, const char *how)
{
	static char to[4][IO_FUSE_SIZE];
	int fd = io_file("cut", "", 0), i, j, nr_bad = 0, seen = 0;
	struct cutter c = { .fd = fd };
	struct lkdf_event done[4];
	int64_t result[4];

	must(ftruncate(fd, IO_FUSE_SIZE));
	pthread_create(&c.thread, NULL, cut_main, &c);
	for (i = 0; i < NR_CUT || seen < NR_CUT; i++) {
		for (j = 0; j < 4; j++) {
			memset(to[j], 'x', sizeof(to[j]));
			io_start(rt,
				 IO(.op = LKDF_IO_READ, .fd = fd, .buf = to[j],
				    .len = sizeof(to[j])),
				 &result[j], &done[j]);
		}
		for (j = 0; j < 4; j++)
			nr_bad += lkdf_event_wait(done[j], -1) ||
				  result[j] < 0 || result[j] > IO_FUSE_SIZE ||
				  !is_zero(to[j], (size_t)result[j]);
		seen = atomic_load(&c.nr_cuts);
	}
	atomic_store(&c.is_over, 1);
	pthread_join(c.thread, NULL);
	is(nr_bad, 0, "%s: a file is cut while it is read", how);
	close(fd);
	unlink(io_path("cut"));
}

/* Who has the descriptor closed under it has read what came, or says EBADF. */
static void a_descriptor_is_closed(struct lkdf *rt, const char *how)
{
	struct lkdf_event done, other;
	int64_t result, good;
	int fd[2], pair[2];
	char to[2], byte;

	io_half_read(rt, fd, to, &result, &done);
	must(pipe2(pair, O_CLOEXEC));
	io_start(rt,
		 IO(.op = LKDF_IO_READ, .fd = pair[0], .buf = &byte, .len = 1,
		    .off = -1),
		 &good, &other);
	close(fd[0]);
	/* Both are woken: by the byte, or by what has gone. */
	ok(write(fd[1], "b", 1) == 1 || errno == EPIPE,
	   "%s: it is closed under an operation", how);
	close(fd[1]);
	ok(write(pair[1], "c", 1) == 1, "%s: another one goes on", how);
	is(lkdf_event_wait(done, -1), 0, "%s: the operation ends", how);
	ok(result == 2 || result == -EBADF, "%s: with a byte, or with EBADF",
	   how);
	is(lkdf_event_wait(other, -1), 0, "%s: the other one ends", how);
	is(good, 1, "%s: as if nothing was", how);
	close(pair[0]);
	close(pair[1]);
}

/* Two ends of a connection; false: there is no loopback. */
static bool connect_tcp(int *pair)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	socklen_t len = sizeof(addr);
	int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good;

	addr.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	good = !bind(listener, (struct sockaddr *)&addr, len) &&
	       !listen(listener, 1) &&
	       !getsockname(listener, (struct sockaddr *)&addr, &len) &&
	       !connect(pair[0], (struct sockaddr *)&addr, len);
	pair[1] = good ? accept4(listener, NULL, NULL, SOCK_CLOEXEC) : -1;
	close(listener);
	if (!good)
		close(pair[0]);
	return good;
}

static void a_connection_is_reset(struct lkdf *rt, const char *how)
{
	struct linger now = { .l_onoff = 1 };
	struct lkdf_event done;
	int64_t result;
	int pair[2];
	char to[2];

	if (!connect_tcp(pair)) {
		skip("a connection is reset", "no loopback device here");
		return;
	}
	ok(send(pair[1], "a", 1, 0) == 1, "%s: the first byte", how);
	io_start(rt,
		 IO(.op = LKDF_IO_RECV, .fd = pair[0], .buf = to, .len = 2,
		    .how = MSG_WAITALL),
		 &result, &done);
	io_until_empty(pair[0]);
	setsockopt(pair[1], SOL_SOCKET, SO_LINGER, &now, sizeof(now));
	close(pair[1]);
	is(lkdf_event_wait(done, -1), 0, "%s: recv ends", how);
	is(result, -ECONNRESET, "%s: the connection is reset", how);
	is(io_call(rt,
		   IO(.op = LKDF_IO_SEND, .fd = pair[0], .buf = to, .len = 1)),
	   -EPIPE, "%s: nothing can be sent", how);
	close(pair[0]);
}

static void one_backend(const char *options)
{
	int nr_fds = io_nr_fds();
	struct lkdf *rt = io_open(options);

	if (has_disk)
		a_disk_is_full(rt, options);
	else
		skip("a disk is full", "mounts are refused");
	a_file_may_not_grow(rt, options);
	if (fuse_pid > 0) {
		a_device_has_read_errors(rt, options);
		a_file_ends_early(rt, options);
	} else {
		skip("a device has read errors", strerror(-fuse_pid));
	}
	a_file_is_cut_and_grows(rt, options);
	/* There the call that starts an operation waits for it. */
	if (!strstr(options, "serial")) {
		a_connection_is_reset(rt, options);
		a_descriptor_is_closed(rt, options);
	}
	is(io_close(rt), 0, "%s: it closes", options);
	is(io_nr_fds(), nr_fds, "%s: no descriptor is left", options);
}

static void mount_all(void)
{
	snprintf(disk, sizeof(disk), "%s", io_path("disk"));
	snprintf(fuse, sizeof(fuse), "%s", io_path("fuse"));
	must(mkdir(disk, 0700));
	must(mkdir(fuse, 0700));
	fuse_pid = -EPERM;
	if (!io_own_mounts())
		return;
	has_disk = !mount("lkdf", disk, "tmpfs", 0, "size=64k");
	fuse_pid = io_fuse_mount(fuse);
}

static void unmount_all(void)
{
	if (fuse_pid > 0)
		is(io_fuse_unmount(fuse, fuse_pid), 0,
		   "the file system that fails ends well");
	if (has_disk)
		is(umount2(disk, 0), 0, "nothing is open on the full disk");
	rmdir(fuse);
	rmdir(disk);
}

int main(void)
{
	size_t i;

	tap_start(60);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	io_begin();
	mount_all();
	IO_EACH(i)
	one_backend(io_backends[i]);
	unmount_all();
	io_end();
	return tap_end();
}
