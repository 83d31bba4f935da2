/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The header in C++17. Compound literals with designators are C only:
 * fill the struct. A body is a function or a lambda that captures nothing.
 * Prints:
 *
 *   hello from C++
 */
#include <cstdio>
#include <lkdf/lkdf.h>

static int say(lkdf_ctx *, void *arg)
{
	std::printf("hello from %s\n", static_cast<const char *>(arg));
	return 0;
}

int main()
{
	lkdf *rt;
	if (lkdf_open(nullptr, &rt))
		return 1;

	lkdf_kind_attr attr{};
	attr.size = sizeof(attr);
	attr.name = "say";
	attr.fn = say;
	lkdf_kind *kind = nullptr;
	int rc = lkdf_kind_create(rt, &attr, &kind);

	lkdf_task task{};
	task.size = sizeof(task);
	task.kind = kind;
	task.arg = "C++";
	lkdf_event done{};
	if (!rc)
		rc = lkdf_submit(rt, nullptr, &task, &done);
	if (!rc)
		rc = lkdf_event_wait(done, -1);
	if (rc)
		std::fprintf(stderr, "%s\n", lkdf_errmsg());
	lkdf_kind_put(kind);
	lkdf_close(rt);
	return rc ? 1 : 0;
}
