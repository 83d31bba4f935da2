#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Would the oracle notice? Bugs in all that programs go through.
set -u
top=$BUILD/selftest
oracle=tests/oracle/oracle
# shellcheck source=tests/oracle/plant.sh
. tests/oracle/plant.sh

run="lib/run/run.c lib/run/plain.c lib/run/control_loop.c"
burst=lib/run/burst.c
resolve=lib/run/resolve.c
leave=lib/run/static_leave.c
static=lib/run/static_run.c
join=lib/task/join.c
complete=lib/task/complete.c
renumber=lib/graph/renumber.c
victims=lib/mechanism/victims/victims.c
claim=lib/data/claim.c

plant "counters are not armed again" lib/graph/record.h \
	'/a_store(&r->pending, nr_in, relaxed);/d' "$run $resolve"
plant "a dead arrival is one off" lib/graph/record.h \
	's/(pending & ~REC_DEAD) == 1 ? ARRIVAL_DEAD/(pending \& ~REC_DEAD) == 2 ? ARRIVAL_DEAD/' \
	$resolve
plant "a task of its own is not told to the frame" $resolve \
	'/^void resolve_and_tell/,/^}/s/frame_resolved(w, f, nr);/;/' $resolve
plant "tokens of a limit are kept after an error" $complete \
	's/if (flags & TASK_GENERAL)/if (flags \& TASK_GENERAL \&\& !error)/' \
	$complete
plant "the last but one child completes its parent" $complete \
	's/return live == 1;/return live == 2;/' $complete
plant "a chain remembers that a body left" $burst \
	's/c->leaves = c->has_why = false;/c->has_why = false;/' $burst
plant "a token goes on by the width" lib/graph/graph.h \
	's/g->nr_frames % stride)/0)/' "$resolve lib/run/frame.c"
plant "a join looks at the top only" $join \
	's/!descend_slowly(w, t)/1/' $join
plant "a join forgets the error" $join \
	'/^int task_join/,/^}/s/return task_forget/return 0 * task_forget/' \
	$join
plant "a joined child is not dropped" $join \
	's/ | (t->link.flags & TASK_ENDS_SLOWLY);/;/' $join
plant "a skipped task counts twice" $burst \
	's/frame_count(b->f, b->w->executor->counters, ending);/{ & & }/' $burst
plant "a burst counts a body too many" lib/run/burst.h \
	's/COUNTER_BODIES, nr)/COUNTER_BODIES, nr + (nr > 1))/' "$run $burst"
plant "workers of another node steal bound tasks" $victims \
	's/is_near ? DEQUE_BOUND : DEQUE_BOUND - 1/DEQUE_BOUND/' $victims
plant "sorted records keep their old successors" $renumber \
	's/rename_tasks(g, recs\[i\].succ, recs\[i\].nr_succ);/;/' $renumber
plant "a list of a node goes to anybody" $resolve \
	's/else if (home_is_bound(l->home))/else if (0)/' $resolve
plant "other workers than the first lose the text of an error" $burst \
	's/has_why ? err_text()/has_why \&\& !b->w->id ? err_text()/' $burst only
plant "a run that leaves its order forgets arrivals" $leave \
	'/^static void redo_arrivals/,/^}/s/- 1,$/- 0,/' $leave
plant "a step of the static order is called twice" $static \
	's/: body_call(fn, c, r->arg))$/: body_call(fn, c, r->arg) + 0 * fn(c, r->arg))/' $static

# Of programs with data.
var=lib/data/var.c
values=lib/run/values.c
transient=lib/run/transient.c
edges=lib/seal/edges.c
acquire=lib/task/acquire.c

plant "a writer goes with the readers before it" $var \
	's/v->turn == u->turn \&\& u->turn != TURN_WRITE/u->turn != TURN_REDUCE/' \
	$var
plant "copies are lost where somebody reads them" $var \
	's/^\treturn u->turn == TURN_WRITE \&\& !(u->flags & USE_READS) \&\&/\treturn u->turn \&\&/' $var
plant "a write does not heal" $var \
	'/^static void heal_var/,/^}/s/if (likely(!a_load/if (likely(a_load/' \
	$var
plant "a failed task poisons nothing" $complete \
	's/claim_leave(ex, t->claim, error, f);/claim_leave(ex, t->claim, 0, NULL);/' \
	$complete
plant "a version is counted twice" $var \
	's/a_add(&d->version, 1, relaxed);/a_add(\&d->version, 2, relaxed);/' $var
plant "what was not touched counts as written" $var \
	'/if (u->is_untouched)/,/return;/d' $var
plant "writers of a graph do not wait for readers" $edges \
	'/^static void after_readers_of/,/^}/s/edges_from_list(/if (0) edges_from_list(/' $edges
plant "an edge that keeps uses apart skips" lib/seal/order_only.c \
	'/^void order_only_note/,/^}/s/if (hard->nr &&/if (!hard->nr ||/' lib/seal/order_only.c
plant "a run does not say which outputs are dead" $values \
	'/^void values_leave/,/^}/s/if (!a_load(&v->is_dead/if (a_load(\&v->is_dead/' $values
plant "a run begins in spite of its inputs" $values \
	's/f->values.is_poisoned = true;/;/' $values
plant "bytes of a producer go with the first reader" $transient \
	'/^static inline bool is_over/,/^}/s/if (nr <= 1)/if (1)/' $transient
plant "a part does not wait for the whole" $var \
	's/if (var_first(v)) {/if (var_first(v) \&\& u->turn != TURN_PARTS) {/' $var
plant "children of a weak parent do not wait" $var \
	's/if (u->flags & USE_WEAK && !u->is_granted)/if (0)/' $var
plant "a weak parent succeeds whatever its children do" $claim \
	's/error = var_error(u->below, &u->below->whole, &failure);/error = 0;/' \
	$claim
plant "a task that always runs is told no error" lib/api/task.c \
	's/uses_error(u, &failure) : 0;/0 \& uses_error(u, \&failure) : 0;/' \
	lib/api/task.c
plant "a run forgets who of its tasks is dead" lib/run/always.c \
	'/^static bool is_unwritten/,/^}/s/if (is_bad(f, p))/if (0)/' \
	lib/run/always.c
plant "what was left bad is good to who comes next" lib/run/always.c \
	'/^bool always_is_bad/,/^}/s/p->from == from \&\& is_bad(f, p)/0/' \
	lib/run/always.c
plant "a run says that what was left bad is good" lib/run/always.c \
	's/if (u->flags & ACCESS_LAST && claim != NO_CLAIM)/if (0)/' \
	lib/run/always.c
plant "who acquires to write does not heal" $acquire \
	's/^\tif (error)$/\tif (error || a->mode == LKDF_WRITE)/' $acquire

# Of programs in the orders of one thread.
options='--orders 5 --seconds 20'
plant "a writer goes with the readers before it, in some order" $var \
	's/v->turn == u->turn \&\& u->turn != TURN_WRITE/u->turn != TURN_REDUCE/' \
	$var
options=

# Of programs with devices; device_mutants.sh has more.
watch=10
oracle=tests/oracle/devices/oracle
mkdir -p "$top/${oracle%/*}"
cp "$BUILD/$oracle" "$top/$oracle"

plant "a copy on a device is right whatever has been written" \
	lib/device/copies.c \
	'/order: copies.version/{n;s/= .*/= c->version != 0;/}' \
	lib/device/copies.c
plant "a body does not wait for bytes that a device has" lib/data/offhost.c \
	'/order: data.waits/{n;s/return c /return 0 /}' lib/data/offhost.c
echo "1..$nr"
exit $failed
