/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "core/threads.h"

#include "base/err.h"
#include "topo/topo.h"

#include <errno.h>
#include <lkdf/runtime.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#define NAME_SIZE 16 /* of a thread, as the system has it */

int threads_set(struct lkdf *rt, const struct lkdf_open_attr *a)
{
	struct thread_wish *wish = &rt->thread_wish;
	size_t len = a->thread_name ? strlen(a->thread_name) : 0;

	if (len >= sizeof(wish->name))
		return err(
			-EINVAL,
			"open: thread_name \"%.20s\" has more than %zu bytes",
			a->thread_name, sizeof(wish->name) - 1);
	memcpy(wish->name, len ? a->thread_name : "", len + 1);
	wish->begins = a->thread_begins;
	wish->u = a->u;
	return 0;
}

/* "lkdf/0.1" becomes "NAME/0.1". */
static void take_name(const struct thread_wish *wish, char *name)
{
	char own[NAME_SIZE] = "";
	const char *rest;

	pthread_getname_np(pthread_self(), own, sizeof(own));
	rest = strchr(own, '/');
	if (!wish->name[0] || !rest) {
		memcpy(name, own, NAME_SIZE);
		return;
	}
	snprintf(name, NAME_SIZE, "%s%.*s", wish->name,
		 NAME_SIZE - 1 - (int)strlen(wish->name), rest);
	pthread_setname_np(pthread_self(), name);
}

void threads_enter(const struct executor *ex)
{
	const struct lkdf *rt = ex->rt;
	const struct thread_wish *wish = &rt->thread_wish;
	char name[NAME_SIZE];
	struct lkdf_thread t = {
		.size = sizeof(t),
		.executor = ex->id,
		.cpu = ex->worker && rt->sched.is_pinned ? ex->worker->cpu : -1,
		.node = ex->worker ? rt->topo->node[ex->node].os_node : -1,
		.name = name,
	};

	take_name(wish, name);
	if (wish->begins)
		wish->begins(wish->u, &t);
}
