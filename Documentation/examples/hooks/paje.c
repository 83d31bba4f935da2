/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A library for LKDF_HOOKS: writes a trace in the format of Paje, which ViTE,
 * PajeNG and others read. Each executor of lkdf is a container, and a body is a
 * state of it.
 *
 *	LKDF_HOOKS=build/examples/hooks_paje.so HOOKS_PAJE=run.paje program
 *
 * A body that waits for its children runs others within it: states lie on a
 * stack, as Paje's do.
 */
#include <errno.h>
#include <inttypes.h>
#include <lkdf/hooks.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_EXECUTORS 8192

struct paje {
	pthread_mutex_t lock;
	const char *path;
	FILE *out;
	int64_t start_ns;
	char is_told[MAX_EXECUTORS];
};

/* Numbers of events, as the head defines them. */
static const char head[] = "%EventDef PajeDefineContainerType 0\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeDefineStateType 1\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeCreateContainer 2\n"
			   "%  Time date\n"
			   "%  Alias string\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "%EventDef PajePushState 3\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%  Value string\n"
			   "%EndEventDef\n"
			   "%EventDef PajePopState 4\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Container string\n"
			   "%EndEventDef\n"
			   "%EventDef PajeDestroyContainer 5\n"
			   "%  Time date\n"
			   "%  Type string\n"
			   "%  Name string\n"
			   "%EndEventDef\n"
			   "0 P 0 process\n"
			   "0 E P executor\n"
			   "1 B E body\n"
			   "2 0.0 p P 0 lkdf\n";

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static double seconds(const struct paje *p)
{
	return (double)(now_ns() - p->start_ns) / 1e9;
}

static void *paje_open(void)
{
	const char *path = getenv("HOOKS_PAJE");
	struct paje *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->path = path ? path : "lkdf.paje";
	p->out = fopen(p->path, "we");
	if (!p->out) {
		fprintf(stderr, "hooks: %s: %s\n", p->path, strerror(errno));
		free(p);
		return NULL;
	}
	pthread_mutex_init(&p->lock, NULL);
	p->start_ns = now_ns();
	fputs(head, p->out);
	return p;
}

static void paje_close(void *u)
{
	struct paje *p = u;
	bool is_torn;
	double end;
	int i;

	if (!p)
		return;
	end = seconds(p);
	for (i = 0; i < MAX_EXECUTORS; i++)
		if (p->is_told[i])
			fprintf(p->out, "5 %.9f E e%d\n", end, i);
	fprintf(p->out, "5 %.9f P p\n", end);
	is_torn = ferror(p->out);
	if (fclose(p->out) || is_torn)
		fprintf(stderr, "hooks: %s: it is not whole\n", p->path);
	pthread_mutex_destroy(&p->lock);
	free(p);
}

/* A text in quotes may hold no quotes. */
static void put_label(FILE *out, const char *label)
{
	fputc('"', out);
	for (; *label; label++)
		fputc(*label == '"' || (unsigned char)*label < ' ' ? '?'
								   : *label,
		      out);
	fputc('"', out);
}

static void paje_begin(void *u, const char *label, uint64_t id,
		       uint32_t executor)
{
	struct paje *p = u;

	(void)id;
	if (!p || executor >= MAX_EXECUTORS)
		return;
	pthread_mutex_lock(&p->lock);
	if (!p->is_told[executor])
		fprintf(p->out, "2 %.9f e%u E p \"executor %u\"\n", seconds(p),
			executor, executor);
	p->is_told[executor] = 1;
	fprintf(p->out, "3 %.9f B e%u ", seconds(p), executor);
	put_label(p->out, label);
	fputc('\n', p->out);
	pthread_mutex_unlock(&p->lock);
}

static void paje_end(void *u, uint64_t id, uint32_t executor)
{
	struct paje *p = u;

	(void)id;
	if (!p || executor >= MAX_EXECUTORS)
		return;
	pthread_mutex_lock(&p->lock);
	fprintf(p->out, "4 %.9f B e%u\n", seconds(p), executor);
	pthread_mutex_unlock(&p->lock);
}

extern const struct lkdf_hooks lkdf_hooks;
__attribute__((visibility("default"))) const struct lkdf_hooks lkdf_hooks = {
	.size = sizeof(struct lkdf_hooks),
	.version = LKDF_HOOKS_VERSION,
	.open = paje_open,
	.close = paje_close,
	.task_begin = paje_begin,
	.task_end = paje_end,
};
