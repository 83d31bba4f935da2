// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
// Bodies that meet in a mutex some calls below, for test_futex_seen.sh: frame
// pointers are kept, and names are those of C++.
#include <lkdf/lkdf.h>

#include <mutex>
#include <unistd.h>

namespace table
{
std::mutex lock;
volatile int nr_looked_up;

// It sleeps with the lock, so that others do there.
__attribute__((noinline)) void enter_shard(int us)
{
	lock.lock();
	usleep(us);
	lock.unlock();
	nr_looked_up = nr_looked_up + 1;
}

__attribute__((noinline)) void lookup_key(int us)
{
	enter_shard(us);
	nr_looked_up = nr_looked_up + 1;
}
} // namespace table

static int parse(lkdf_ctx *, void *)
{
	table::lookup_key(500);
	return 0;
}

int main()
{
	lkdf_kind_attr attr = {};
	lkdf_task task = {};
	lkdf *rt;

	attr.size = sizeof(attr);
	attr.name = "parse";
	attr.fn = parse;
	task.size = sizeof(task);
	if (lkdf_open("workers=3", &rt) ||
	    lkdf_kind_create(rt, &attr, &task.kind))
		return 1;
	// Until the test ends it.
	for (;;) {
		for (int i = 0; i < 64; i++)
			lkdf_submit(rt, nullptr, &task, nullptr);
		lkdf_scope_wait(rt, nullptr, -1);
	}
}
