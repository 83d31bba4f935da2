/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Registered files and memory: the same bytes on every backend, rings make use
 * of them, and a registration taken back leaves nothing behind, whatever has
 * the number or the address next.
 */
#include "tests/api/io.h"

#include <grp.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define SIZE (256 << 10)
#define HALF (SIZE / 2)
#define NR_SLOTS 64
#define NR_ROUNDS 200
#define NR_SHORT 40
#define NOT_OPEN 201 /* others get lower numbers meanwhile */

static uint64_t nr_fixed(struct lkdf *rt)
{
	uint64_t nr = 0;

	must(lkdf_stat(rt, "lkdf.io.fixed", &nr));
	return nr;
}

static bool keeps_some(struct lkdf *rt)
{
	return lkdf_caps(rt) & LKDF_CAP_URING;
}

static void is_fixed(struct lkdf *rt, const char *options, uint64_t before,
		     uint64_t want, const char *what)
{
	is(nr_fixed(rt) - before, keeps_some(rt) ? want : 0,
	   "%s: %s: so many made use of it", options, what);
}

static char *map(size_t size)
{
	char *p = mmap(NULL, size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p == MAP_FAILED ? NULL : p;
}

/* A READ of as many is never done without its ring. */
static int64_t move(struct lkdf *rt, uint32_t op, int fd, void *buf,
		    uint32_t len, int64_t off)
{
	return io_call(rt, IO(.op = op, .fd = fd, .buf = buf, .len = len,
			      .off = off));
}

/* ---- the same bytes ------------------------------------------------------ */

static void same_bytes(struct lkdf *rt, const char *options)
{
	char *from = map(SIZE), *to = map(SIZE), *part = from + HALF;
	int fd = io_file("same", "", 0);
	uint64_t before = nr_fixed(rt);
	struct iovec iov = { to, SIZE };

	io_fill(from, SIZE, 1);
	is(lkdf_io_register_file(rt, fd), 0, "%s: a file", options);
	is(lkdf_io_register_buffer(rt, from, SIZE), 0, "%s: memory", options);
	is(lkdf_io_register_buffer(rt, to, HALF), 0, "%s: half of it", options);
	is(move(rt, LKDF_IO_WRITE, fd, from, SIZE, 0), SIZE,
	   "%s: all is "
	   "written",
	   options);
	is(move(rt, LKDF_IO_WRITE, fd, part, HALF, SIZE), HALF,
	   "%s: and a part of it", options);
	is(move(rt, LKDF_IO_READ, fd, to, HALF, SIZE), HALF, "%s: read back",
	   options);
	ok(!memcmp(to, part, HALF), "%s: the bytes of the part", options);
	is_fixed(rt, options, before, 3, "file and memory");
	is(move(rt, LKDF_IO_READ, fd, to + 1, SIZE - 1, 1), SIZE - 1,
	   "%s: over the end of what is registered", options);
	ok(!memcmp(to + 1, from + 1, SIZE - 1), "%s: its bytes", options);
	is(io_call(rt,
		   IO(.op = LKDF_IO_READV, .fd = fd, .buf = &iov, .len = 1)),
	   SIZE, "%s: as a vector", options);
	ok(!memcmp(to, from, SIZE), "%s: its bytes", options);
	is(io_call(rt, IO(.op = LKDF_IO_FSYNC, .fd = fd)), 0, "%s: fsync",
	   options);
	is_fixed(rt, options, before, 6, "the file alone");
	is(move(rt, LKDF_IO_READ, fd, to, HALF, SIZE + HALF), 0,
	   "%s: the end of the file", options);
	is(lkdf_io_unregister_file(rt, fd), 0, "%s: no file", options);
	is(move(rt, LKDF_IO_WRITE, fd, from, HALF, 0), HALF, "%s: memory alone",
	   options);
	is_fixed(rt, options, before, 8, "memory alone");
	is(lkdf_io_unregister_buffer(rt, from), 0, "%s: no memory", options);
	is(lkdf_io_unregister_buffer(rt, to), 0, "%s: none at all", options);
	is(move(rt, LKDF_IO_WRITE, fd, from, HALF, 0), HALF, "%s: neither",
	   options);
	is_fixed(rt, options, before, 8, "neither");
	close(fd);
	unlink(io_path("same"));
	munmap(from, SIZE);
	munmap(to, SIZE);
}

/* Pages of the kernel's own, which no read can fill from the page cache. */
static void odd_descriptors(struct lkdf *rt, const char *options)
{
	int pair[2], zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	char *buf = map(SIZE);

	must(pipe2(pair, O_CLOEXEC));
	must(lkdf_io_register_file(rt, pair[0]));
	must(lkdf_io_register_file(rt, pair[1]));
	must(lkdf_io_register_file(rt, zero));
	must(lkdf_io_register_buffer(rt, buf, SIZE));
	memset(buf, 1, SIZE);
	is(move(rt, LKDF_IO_READ, zero, buf, SIZE, 0), SIZE, "%s: /dev/zero",
	   options);
	ok(!buf[0] && !memcmp(buf, buf + 1, SIZE - 1), "%s: zeroes", options);
	memcpy(buf, "over and out", 12);
	is(move(rt, LKDF_IO_WRITE, pair[1], buf, 12, -1), 12, "%s: into a pipe",
	   options);
	is(move(rt, LKDF_IO_READ, pair[0], buf + HALF, 12, -1), 12,
	   "%s: out of it", options);
	ok(!memcmp(buf + HALF, "over and out", 12), "%s: its bytes", options);
	is(lkdf_io_unregister_file(rt, pair[1]), 0, "%s: taken back", options);
	close(pair[1]);
	/* Waits until the kernel has let go, too. */
	is(move(rt, LKDF_IO_READ, pair[0], buf, 12, -1), 0,
	   "%s: and closed, the reader sees the end", options);
	/* The rest is close's. */
	close(pair[0]);
	close(zero);
}

/* ---- bad calls ----------------------------------------------------------- */

static void refusals(struct lkdf *rt, const char *options)
{
	char *buf = map(SIZE);

	is(lkdf_io_register_file(NULL, 1), -EINVAL, "%s: no runtime", options);
	is(lkdf_io_register_buffer(NULL, buf, 1), -EINVAL, "%s: the same",
	   options);
	is(lkdf_io_unregister_file(NULL, 1), -EINVAL, "%s: nor here", options);
	is(lkdf_io_unregister_buffer(NULL, buf), -EINVAL, "%s: and here",
	   options);
	is(lkdf_io_register_file(rt, -1), -EBADF, "%s: descriptor -1", options);
	is(lkdf_io_register_file(rt, NOT_OPEN), -EBADF, "%s: a closed one",
	   options);
	has(lkdf_errmsg(), "is not open", "%s: is told", options);
	is(lkdf_io_register_buffer(rt, NULL, 1), -EINVAL, "%s: no memory",
	   options);
	is(lkdf_io_register_buffer(rt, buf, 0), -EINVAL, "%s: no bytes",
	   options);
	is(lkdf_io_register_buffer(rt, buf, ((uint64_t)1 << 30) + 1), -EINVAL,
	   "%s: more than 1 GiB", options);
	is(lkdf_io_register_buffer(rt, (char *)UINTPTR_MAX - 1, 8), -EINVAL,
	   "%s: over the end of all addresses", options);
	is(lkdf_io_unregister_file(rt, 1), -ENOENT, "%s: no such file",
	   options);
	is(lkdf_io_unregister_buffer(rt, buf), -ENOENT, "%s: no such memory",
	   options);
	must(lkdf_io_register_file(rt, 1));
	must(lkdf_io_register_buffer(rt, buf + 4096, 8192));
	is(lkdf_io_register_file(rt, 1), -EEXIST, "%s: twice", options);
	is(lkdf_io_register_buffer(rt, buf, 4097), -EEXIST,
	   "%s: the first byte again", options);
	is(lkdf_io_register_buffer(rt, buf + 4096 + 8191, 1), -EEXIST,
	   "%s: the last byte again", options);
	is(lkdf_io_register_buffer(rt, buf, 4096), 0, "%s: what is before it",
	   options);
	is(lkdf_io_register_buffer(rt, buf + 4096 + 8192, 1), 0,
	   "%s: what is behind it", options);
	is(lkdf_io_unregister_buffer(rt, buf + 4097), -ENOENT,
	   "%s: what does not start there", options);
	is(lkdf_io_unregister_buffer(rt, buf), 0, "%s: before", options);
	is(lkdf_io_unregister_buffer(rt, buf + 4096 + 8192), 0, "%s: behind",
	   options);
	is(lkdf_io_unregister_buffer(rt, buf + 4096), 0, "%s: between",
	   options);
	is(lkdf_io_unregister_file(rt, 1), 0, "%s: the file", options);
	munmap(buf, SIZE);
}

static void too_many(struct lkdf *rt, const char *options)
{
	int i, nr = 0, nr_back = 0;

	for (i = 0; i < NR_SLOTS; i++)
		nr += !lkdf_io_register_buffer(rt, (char *)4096 + i, 1);
	is(nr, NR_SLOTS, "%s: %d pieces of memory", options, NR_SLOTS);
	is(lkdf_io_register_buffer(rt, (char *)4096 + i, 1), -ENOSPC,
	   "%s: one more", options);
	has(lkdf_errmsg(), "64 slots", "%s: is told", options);
	for (i = 0; i < NR_SLOTS; i++)
		nr_back += !lkdf_io_unregister_buffer(rt, (char *)4096 + i);
	is(nr_back, NR_SLOTS, "%s: all taken back", options);
}

/*
 * Such memory is not there: a ring does without, and says -EFAULT as ever. What
 * has the slot next has nothing of it.
 */
static void no_such_memory(struct lkdf *rt, const char *options)
{
	int fd = io_file("gone", "", 0);
	char *gone = map(SIZE);
	uint64_t before;

	/* Not unmapped: another thread might get what is there next. */
	must(mprotect(gone, SIZE, PROT_NONE));
	must(lkdf_io_register_buffer(rt, gone, SIZE));
	is(move(rt, LKDF_IO_WRITE, fd, gone, SIZE, 0), -EFAULT,
	   "%s: memory that is not there", options);
	is(lkdf_io_unregister_buffer(rt, gone), 0, "%s: taken back", options);
	must(mprotect(gone, SIZE, PROT_READ | PROT_WRITE));
	before = nr_fixed(rt);
	must(lkdf_io_register_buffer(rt, gone, SIZE));
	is(move(rt, LKDF_IO_WRITE, fd, gone, SIZE, 0), SIZE,
	   "%s: memory in its place", options);
	is_fixed(rt, options, before, 1, "it");
	is(lkdf_io_unregister_buffer(rt, gone), 0, "%s: taken back", options);
	munmap(gone, SIZE);
	close(fd);
	unlink(io_path("gone"));
}

/* Neither a number nor an address that wraps around is in what is there. */
static void nothing_like_it(struct lkdf *rt, const char *options)
{
	char *buf = map(SIZE), *end = (char *)UINTPTR_MAX - 4095;
	int low = io_file("like", "", 0);
	int fd = fcntl(low, F_DUPFD, NOT_OPEN - 1);
	uint64_t before;

	close(low);
	must(lkdf_io_register_file(rt, fd));
	must(lkdf_io_register_buffer(rt, buf, SIZE));
	is(move(rt, LKDF_IO_WRITE, fd, buf, SIZE, 0), SIZE, "%s: a file",
	   options);
	before = nr_fixed(rt);
	is(move(rt, LKDF_IO_WRITE, -1, buf + SIZE, 1, 0), -EBADF,
	   "%s: descriptor -1 is none of them", options);
	is(move(rt, LKDF_IO_READ, INT32_MIN, buf + SIZE, 1, 0), -EBADF,
	   "%s: nor any other below 0", options);
	is(move(rt, LKDF_IO_WRITE, NOT_OPEN, buf + SIZE, 1, 0), -EBADF,
	   "%s: nor the next", options);
	is_fixed(rt, options, before, 0, "no such descriptor");
	is(move(rt, LKDF_IO_WRITE, fd, end, 8192, 0), -EFAULT,
	   "%s: over the end of all addresses", options);
	is(lkdf_io_unregister_file(rt, -1), -ENOENT, "%s: -1 is not there",
	   options);
	is(lkdf_io_unregister_file(rt, fd), 0, "%s: the file", options);
	is(lkdf_io_unregister_buffer(rt, buf), 0, "%s: the memory", options);
	close(fd);
	unlink(io_path("like"));
	munmap(buf, SIZE);
}

/* ---- what is under way --------------------------------------------------- */

static int taken_back(struct lkdf_ctx *c, void *arg)
{
	struct io_call *call = arg;

	*call->result = lkdf_io_result(c);
	return 0;
}

static void busy(struct lkdf *rt, const char *options)
{
	struct lkdf_kind *k = io_kind(rt, taken_back, sizeof(struct io_call));
	bool is_kept = keeps_some(rt);
	struct lkdf_event done;
	uint64_t before = nr_fixed(rt);
	int64_t result = 0;
	struct io_call call;
	char to[8] = "";
	int pair[2], rc;

	must(pipe2(pair, O_CLOEXEC));
	must(lkdf_io_register_file(rt, pair[0]));
	call = (struct io_call){ *IO(.op = LKDF_IO_READ, .fd = pair[0],
				     .buf = to, .len = 8, .off = -1),
				 &result };
	must(lkdf_submit(rt, NULL, ATTR(lkdf_task, .kind = k, .arg = &call),
			 &done));
	while (is_kept && nr_fixed(rt) == before)
		api_nap_ns(100000);
	rc = lkdf_io_unregister_file(rt, pair[0]);
	is(rc, is_kept ? -EBUSY : 0, "%s: a read is under way", options);
	if (rc)
		has(lkdf_errmsg(), "under way", "%s: is told", options);
	ok(write(pair[1], "01234567", 8) == 8, "%s: its bytes", options);
	must(lkdf_event_wait(done, -1));
	is(result, 8, "%s: come", options);
	before = nr_fixed(rt);
	ok(write(pair[1], "89", 2) == 2, "%s: and more of them", options);
	is(io_call(rt, IO(.op = LKDF_IO_POLL, .fd = pair[0], .how = POLLIN)),
	   POLLIN, "%s: are there", options);
	is_fixed(rt, options, before, 1, "what could not be taken back");
	is(lkdf_io_unregister_file(rt, pair[0]), rc ? 0 : -ENOENT,
	   "%s: then it is given back", options);
	close(pair[0]);
	close(pair[1]);
	lkdf_kind_put(k);
}

/* The number and the slot of what was taken back are others' next. */
static void next_of_that_number(struct lkdf *rt, const char *options)
{
	char *buf = map(SIZE), *want = map(SIZE), name[32];
	int i, fd, nr_good = 0, first = -1, nr_same = 0;

	for (i = 0; i < NR_SHORT; i++) {
		snprintf(name, sizeof(name), "next-%d", i % 3);
		io_fill(want, SIZE, (unsigned)i + 7);
		fd = io_file(name, want, SIZE);
		first = i ? first : fd;
		nr_same += fd == first;
		/* Every third is not registered, but has the number. */
		if (i % 3)
			must(lkdf_io_register_file(rt, fd));
		must(lkdf_io_register_buffer(rt, buf, SIZE));
		nr_good += move(rt, LKDF_IO_READ, fd, buf, SIZE, 0) == SIZE &&
			   !memcmp(buf, want, SIZE);
		must(lkdf_io_unregister_buffer(rt, buf));
		if (i % 3)
			must(lkdf_io_unregister_file(rt, fd));
		close(fd);
		/* Other pages at the same address. */
		madvise(buf, SIZE, MADV_DONTNEED);
		unlink(io_path(name));
	}
	is(nr_good, NR_SHORT, "%s: each has its own bytes", options);
	ok(nr_same > 1, "%s: %d had the same number", options, nr_same);
	munmap(buf, SIZE);
	munmap(want, SIZE);
}

/* ---- others at the same time --------------------------------------------- */

struct changer {
	struct lkdf *rt;
	atomic_int is_over, nr_wrong;
	int fd;
	char bytes[4 * 4096];
};

/* Registers and takes back what nobody uses, and what the main thread has. */
static void *change(void *arg)
{
	struct changer *ch = arg;
	int i, rc;

	for (i = 0; !atomic_load(&ch->is_over); i++) {
		if (lkdf_io_register_buffer(ch->rt, ch->bytes + i % 4 * 4096,
					    4096) ||
		    lkdf_io_unregister_buffer(ch->rt, ch->bytes + i % 4 * 4096))
			atomic_fetch_add(&ch->nr_wrong, 1);
		rc = lkdf_io_register_file(ch->rt, ch->fd);
		while (!rc &&
		       (rc = lkdf_io_unregister_file(ch->rt, ch->fd)) == -EBUSY)
			rc = 0;
		if (rc)
			atomic_fetch_add(&ch->nr_wrong, 1);
	}
	return NULL;
}

static void changes_beside(struct lkdf *rt, const char *options)
{
	char *from = map(SIZE), *to = map(SIZE);
	struct changer ch = { .rt = rt };
	int i, nr_good = 0;
	pthread_t thread;

	ch.fd = io_file("beside", "", 0);
	io_fill(from, SIZE, 3);
	pthread_create(&thread, NULL, change, &ch);
	for (i = 0; i < NR_ROUNDS; i++) {
		memset(to, i, SIZE);
		from[i] = (char)i;
		nr_good +=
			move(rt, LKDF_IO_WRITE, ch.fd, from, SIZE, 0) == SIZE &&
			move(rt, LKDF_IO_READ, ch.fd, to, SIZE, 0) == SIZE &&
			!memcmp(from, to, SIZE);
	}
	atomic_store(&ch.is_over, 1);
	pthread_join(thread, NULL);
	is(nr_good, NR_ROUNDS, "%s: while they come and go", options);
	is(atomic_load(&ch.nr_wrong), 0, "%s: and those are right", options);
	close(ch.fd);
	unlink(io_path("beside"));
	munmap(from, SIZE);
	munmap(to, SIZE);
}

/* ---- without the right to pin -------------------------------------------- */

static char note[256];
static atomic_int nr_notes;

static void take_note(void *ctx, int level, const char *text)
{
	(void)ctx;
	(void)level;
	if (!strstr(text, "registered memory"))
		return;
	snprintf(note, sizeof(note), "%s", text);
	atomic_fetch_add(&nr_notes, 1);
}

/* In a child that is nobody. */
static int without_memlock(int fd)
{
	struct lkdf_open_attr a = { .size = sizeof(a),
				    .options = "workers=1",
				    .log = take_note };
	char *buf = map(SIZE);
	struct lkdf *rt = NULL;
	int64_t nr;

	if (setgroups(0, NULL) || setresgid(65534, 65534, 65534) ||
	    setresuid(65534, 65534, 65534) ||
	    setrlimit(RLIMIT_MEMLOCK, &(struct rlimit){ 0, 0 }))
		return 2;
	must(lkdf_open_with(&a, &rt));
	must(lkdf_io_register_buffer(rt, buf, SIZE));
	io_fill(buf, SIZE, 5);
	nr = move(rt, LKDF_IO_WRITE, fd, buf, SIZE, 0);
	nr += move(rt, LKDF_IO_WRITE, fd, buf, SIZE, SIZE);
	if (lkdf_caps(rt) & LKDF_CAP_URING &&
	    (!strstr(note, "Cannot allocate") || atomic_load(&nr_notes) != 1))
		return 3;
	if (nr_fixed(rt) || lkdf_io_unregister_buffer(rt, buf))
		return 4;
	return nr == 2 * SIZE && !lkdf_close(rt) ? 0 : 5;
}

static void no_right_to_pin(void)
{
	char want[4096], at[4096];
	int fd, status = -1;
	pid_t pid;

	if (geteuid()) {
		skip("no memory may be locked", "needs root");
		return;
	}
	fd = io_file("pin", "", 0);
	fflush(stdout);
	pid = fork();
	if (!pid)
		_exit(without_memlock(fd));
	waitpid(pid, &status, 0);
	is(status, 0, "no memory may be locked: it is written, and logged");
	io_fill(want, sizeof(want), 5);
	ok(pread(fd, at, sizeof(at), SIZE) == sizeof(at) &&
		   !memcmp(at, want, sizeof(at)),
	   "with its bytes");
	close(fd);
	unlink(io_path("pin"));
}

static void one_backend(const char *options)
{
	struct lkdf *rt = io_open(options);

	same_bytes(rt, options);
	refusals(rt, options);
	too_many(rt, options);
	no_such_memory(rt, options);
	nothing_like_it(rt, options);
	if (!strstr(options, "serial"))
		busy(rt, options);
	next_of_that_number(rt, options);
	changes_beside(rt, options);
	odd_descriptors(rt, options);
	is(io_close(rt), 0, "%s: it closes with some registered", options);
}

int main(void)
{
	size_t i;

	tap_start(200);
	io_begin();
	no_right_to_pin();
	IO_EACH(i)
	one_backend(io_backends[i]);
	io_end();
	return tap_end();
}
