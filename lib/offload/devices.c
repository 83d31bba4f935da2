/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "offload/devices.h"

#include "base/err.h"
#include "base/futex.h"
#include "base/options.h"
#include "check/device.h"
#include "core/home.h"
#include "core/ops.h"
#include "device/request.h"
#include "offload/blocks.h"
#include "sched/nap.h"
#include "sched/notify.h"
#include "sched/tick.h"
#include "topo/topo.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long the draining thread sleeps before it looks at its inboxes again. */
#define SERIAL_NS 1000000
/* As a launcher naps beside a device that it polls. */
#define SERIAL_POLL_NS 20000
/* Launchers spin where the runtime may use so many CPUs. */
#define MIN_SPIN_CPUS 4

void devices_init(struct lkdf *rt)
{
	pthread_mutex_init(&rt->devices->lock, NULL);
	pthread_mutex_init(&rt->devices->held_lock, NULL);
	list_init(&rt->devices->foreign);
}

void devices_stop(struct lkdf *rt)
{
	unsigned i, nr = devices_nr(rt);

	blocks_close(rt);
	for (i = 0; i < nr; i++) {
		start_settle(&rt->devices->late[i]);
		device_stop(rt->devices->device[i]);
	}
}

void devices_fini(struct lkdf *rt, bool is_child)
{
	struct devices *all = rt->devices;
	unsigned i, nr = devices_nr(rt);

	if (!is_child)
		blocks_forget(all);
	for (i = 0; i < nr; i++) {
		device_destroy(all->device[i], !is_child);
		free(all->place[i]);
	}
	a_store(&all->nr, 0, relaxed);
	free(all->held);
	if (is_child)
		return;
	pthread_mutex_destroy(&all->held_lock);
	pthread_mutex_destroy(&all->lock);
}

/* ---- adding ------------------------------------------------------------- */

/* The index of its node, or of another one that has workers. */
static int node_of(const struct lkdf *rt, int os_node)
{
	const struct topo *t = rt->topo;
	int i;

	for (i = 0; i < t->nr_nodes; i++)
		if (t->node[i].os_node == os_node &&
		    sched_has_worker(&rt->sched, i))
			return i;
	for (i = 0; i < t->nr_nodes; i++)
		if (sched_has_worker(&rt->sched, i))
			return i;
	return 0;
}

/* The launcher may run on all CPUs of the node. */
static void bind_launcher(struct device *d, const struct topo *t, int node)
{
	const struct topo_cpu *cpu = &t->cpu[t->node[node].first_cpu];
	int i;

	CPU_ZERO(&d->attr.cpus);
	for (i = 0; i < t->node[node].nr_cpus; i++)
		if (cpu[i].os_cpu < CPU_SETSIZE)
			CPU_SET(cpu[i].os_cpu, &d->attr.cpus);
	d->attr.is_bound = CPU_COUNT(&d->attr.cpus) != 0;
}

static struct lkdf_place *
create_place(struct lkdf *rt, enum lkdf_place_kind kind, struct device *d)
{
	struct lkdf_place *p = calloc(1, sizeof(*p));
	int node = node_of(rt, d->info.node);

	if (!p)
		return NULL;
	*p = rt->places[node];
	p->kind = kind;
	p->device = d;
	p->home = home_make_device(d->attr.index);
	p->is_hooked |= !device_has(d, LKDF_DEVICE_HOST_MEMORY);
	if (sched_is_bound(&rt->sched))
		bind_launcher(d, rt->topo, node);
	return p;
}

/* Under lock. */
static int check_new(const struct devices *all,
		     const struct lkdf_device_ops *ops, const void *dev)
{
	unsigned i, nr = a_load(&all->nr, relaxed);

	for (i = 0; i < nr; i++)
		if (all->device[i]->dev == dev &&
		    !strcmp(all->device[i]->name, ops->name))
			return err(-EEXIST,
				   "place_register: this device is registered "
				   "as %s",
				   ops->name);
	if (nr == LKDF_MAX_DEVICES)
		return err(-ENOSPC, "place_register: %s: there are %d devices",
			   ops->name, LKDF_MAX_DEVICES);
	return 0;
}

static void count_devices(void *executor, unsigned what, uint64_t n)
{
	struct executor *ex = executor;

	counter_add(ex->counters, what, n);
}

/* The tasks that the launcher makes ready now were made so by it. */
static void tell_device(void *executor, const struct lkdf_stats_slice *s)
{
	struct executor *ex = executor;
	const struct lkdf *rt = ex->rt;

	ex->now = LKDF_UID((uint32_t)rt->nr_executors + 1 + s->task,
			   LKDF_UID_NUMBER(s->number));
	trace_slice(ex->ring, s);
}

static void *enter_launcher(void *u, uint32_t executor)
{
	struct lkdf *rt = u;

	return blocking_enter(&rt->blocking, (int)executor - rt->nr_workers);
}

/* A spinner that finds nothing sleeps again. */
static void expect_worker(void *u)
{
	struct lkdf *rt = u;
	struct sched *s = &rt->sched;

	notify_any(s, &s->nodes[sched_home(s)]);
}

/* A launcher that spins takes a CPU from the workers. */
static int64_t spin_ns(const struct lkdf *rt)
{
	const struct topo *t = rt->topo;
	bool is_small =
		t->nr_cpus < MIN_SPIN_CPUS ||
		(t->quota_milli && t->quota_milli < MIN_SPIN_CPUS * 1000);

	return is_small ? 0 : rt->options->device_spin_us * 1000;
}

/* Under lock. */
static int add_device(struct lkdf *rt, enum lkdf_place_kind kind,
		      const struct lkdf_device_ops *ops, void *dev)
{
	struct devices *all = rt->devices;
	unsigned nr = a_load(&all->nr, relaxed);
	const struct device_attr attr = {
		.stack_kib = (size_t)rt->options->stack_kib,
		.is_alive = rt->is_alive,
		.bell = rt->sched.is_serial ? &all->bell : NULL,
		.check = rt->check,
		.index = nr,
		.nr_queues = (unsigned)rt->options->device_queues,
		.memory = (uint64_t)rt->options->device_memory << 20,
		.pin_bytes = (uint64_t)rt->options->device_pin << 20,
		.spin_ns = spin_ns(rt),
		.trace = &rt->trace,
		.hooks = &rt->hooks,
		.told = &rt->trace.devices[nr],
		.executor = (uint32_t)(rt->nr_workers + rt->nr_blocking) + nr,
		.enter = enter_launcher,
		.u = rt,
		.count = count_devices,
		.tell = tell_device,
		.expect = expect_worker,
	};
	struct device *d;
	int rc = check_new(all, ops, dev);

	if (!rc)
		rc = device_create(ops, dev, &attr, &d);
	if (rc)
		return rc;
	all->place[nr] = create_place(rt, kind, d);
	if (!all->place[nr]) {
		device_destroy(d, false);
		return err(-ENOMEM, "place_register: %s: no memory", ops->name);
	}
	all->device[nr] = d;
	all->late[nr].rt = rt;
	all->late[nr].device = d;
	/* [devices.nr] as above. */
	a_store(&all->nr, nr + 1, release);
	return 0;
}

int devices_add(struct lkdf *rt, enum lkdf_place_kind kind,
		const struct lkdf_device_ops *ops, void *dev,
		struct lkdf_place **out)
{
	struct devices *all = rt->devices;
	int rc;

	pthread_mutex_lock(&all->lock);
	rc = add_device(rt, kind, ops, dev);
	if (!rc)
		*out = all->place[a_load(&all->nr, relaxed) - 1];
	pthread_mutex_unlock(&all->lock);
	return rc;
}

int devices_adopt(const struct lkdf_place *p, void *queue,
		  struct lkdf_place **out)
{
	const struct lkdf_device_ops *ops = &p->device->ops;
	void *dev = NULL;
	char why[256];
	int rc;

	err_clear();
	rc = ops->adopt(p->device->dev, queue, &dev);
	if (rc < 0) {
		snprintf(why, sizeof(why), "%s", err_text());
		return err(rc, "place_from_queue: device %s: %s", ops->name,
			   why[0] ? why : strerror(-rc));
	}
	rc = devices_add(p->rt, p->kind, ops, dev, out);
	/* Nobody else has it. */
	if (rc && rc != -EEXIST)
		ops->stop(dev);
	return rc;
}

/* ---- what they hold ----------------------------------------------------- */

/* The bytes of text that are used. */
static size_t tell_held(struct device *d, char *text, size_t size,
			bool is_first)
{
	const struct device_req *r;
	const struct list *l;
	size_t used = 0;
	unsigned nr = 0;

	lock_take(&d->lock);
	for (l = d->under_way.next; l != &d->under_way; l = l->next)
		nr++;
	if (nr) {
		r = container_of(d->under_way.next, const struct device_req,
				 list);
		used = (size_t)snprintf(text, size,
					"%sdevice %s holds kernel %.64s and %u "
					"more",
					is_first ? "" : ", ", d->name,
					r->launch.name, nr - 1);
	}
	lock_give(&d->lock);
	return used;
}

bool devices_hold(struct lkdf *rt, char *text, size_t size)
{
	unsigned i, nr = devices_nr(rt);
	size_t used = 0;

	for (i = 0; i < nr && used < size; i++)
		used += tell_held(rt->devices->device[i], text + used,
				  size - used, !used);
	return used;
}

/* ---- completions -------------------------------------------------------- */

static bool has_no_news(const struct completions *c)
{
	(void)c;
	return false;
}

static void look_at_nothing(struct completions *c, uint64_t next)
{
	(void)c;
	(void)next;
}

static void do_nothing(struct worker *w)
{
	(void)w;
}

static bool find_nothing(struct worker *w)
{
	(void)w;
	return false;
}

static int64_t nap_for_ever(struct worker *w)
{
	(void)w;
	return -1;
}

static bool sleep_for_nothing(struct lkdf *rt, int64_t timeout_ns)
{
	(void)rt;
	(void)timeout_ns;
	return false;
}

struct step {
	struct device *d;
	struct executor *ex;
	bool has_moved;
};

static void make_step(void *u)
{
	struct step *s = u;

	s->has_moved = launcher_step(s->d, s->ex);
}

bool devices_step(struct device *d, struct executor *ex)
{
	struct step s = { .d = d, .ex = ex };

	if (likely(!d->attr.check))
		return launcher_step(d, ex);
	check_device_step(d->attr.check, make_step, &s);
	return s.has_moved;
}

/* *nap_ns: how long nobody needs to look again; 0: none is busy. */
static bool step_all(struct lkdf *rt, struct executor *ex, int64_t *nap_ns)
{
	unsigned i, nr = devices_nr(rt);
	struct device *d;
	bool has_moved = false;
	int64_t nap;

	*nap_ns = 0;
	for (i = 0; i < nr; i++) {
		d = rt->devices->device[i];
		if (!a_load(&d->is_started, relaxed))
			continue;
		has_moved |= devices_step(d, ex);
		if (!launcher_is_busy(d))
			continue;
		nap = d->ops.poll && !device_has(d, LKDF_DEVICE_CALLS)
			      ? SERIAL_POLL_NS
			      : SERIAL_NS;
		if (!*nap_ns || nap < *nap_ns)
			*nap_ns = nap;
	}
	return has_moved;
}

static bool wait_serial(struct worker *w, int64_t most_ns)
{
	struct lkdf *rt = w->executor->rt;
	_Atomic(uint32_t) *bell = &rt->devices->bell;
	int64_t nap_ns;

	if (step_all(rt, w->executor, &nap_ns))
		return true;
	if (!nap_ns || !most_ns)
		return false;
	/* [device.sleep] as in the launcher. */
	a_store(bell, 1, relaxed);
	if (!step_all(rt, w->executor, &nap_ns))
		futex_wait(bell, 1,
			   nap_min(most_ns, nap_ns ? nap_ns : SERIAL_NS));
	a_store(bell, 0, relaxed);
	/* Nobody else looks at the clock. */
	sched_tick(&rt->sched, rt);
	return true;
}

/* A request that waits for room may be cancelled. */
static void kick_all(struct lkdf *rt)
{
	unsigned i, nr = devices_nr(rt);

	for (i = 0; i < nr; i++)
		if (a_load(&rt->devices->device[i]->is_started, relaxed))
			device_ring(rt->devices->device[i]);
}

const struct completion_ops device_completions = {
	.has_news = has_no_news,
	.look = look_at_nothing,
	.stays = has_no_news,
	.guard = do_nothing,
	.poll = find_nothing,
	.nap = nap_for_ever,
	.leave = do_nothing,
	.wait = wait_serial,
	.sleep = sleep_for_nothing,
	.kick = kick_all,
};
