#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# mutate.sh weakens orders; here are bugs that stay right by the model checker's
# orders and are wrong all the same. Each rule is one way in which such code is
# broken by hand: a second look is dropped, one is woken where all wait, a
# reference stays on an error path, a bound is one less or one more. A row is a
# place where a rule applies and the test that has to fail then.
#
# PLANT_SHARE=I/N in the environment: only every Nth row, from the Ith on.
set -u
top=$BUILD/plants
oracle=
# shellcheck source=tests/oracle/plant.sh
. tests/oracle/plant.sh

# row TEST NAME FILE SED: the file alone is compiled again.
row() {
	program=tests/api/$1
	plant "$2" "$3" "$4" "$3"
}

watch=20
any=lib/scope/event_any.c
tap=lib/scope/event_tap.c
wait=lib/channel/channel_wait.c
channel=lib/channel/channel.c
again=lib/task/again.c
pulse=lib/scope/event_pulse.c
fold=lib/data/reduction.c

# A second look is dropped. (In channel_add() only a race shows that to a program;
# six scenarios of mc_channel.c find it at once.)
row scope/test_event_any "one of several that fires early leaves its taps" $any \
	'/looked under the locks/{n;n;s/.*/	;/}'
row channel/test_again "who waits at a channel does not look again" $again \
	's/if (!channel_add(a->woken.ch, a->woken.side, &a->waiter))/if (channel_add(a->woken.ch, a->woken.side, \&a->waiter) \&\& 0)/'
row scope/test_event_any "a tap is added to an event that has fired" $tap \
	's/is_over = event_look(ev, &error);/is_over = false; error = 0;/'
row scope/test_pulse "a waiter does not look at what was signalled" $pulse \
	's/if (event_look(ev, &rc) || nr > seen)/if (event_look(ev, \&rc))/'

# One is woken where all wait, or nobody.
row scope/test_pulse "a pulse wakes one of several" $pulse \
	's/futex_wake(futex_of(ev), INT_MAX)/futex_wake(futex_of(ev), 1)/'
row channel/test_channel "an end wakes one of several" $channel \
	's/} while (e.slot);/} while (0);/'
row channel/test_again "a woken one that waits elsewhere passes nothing on" \
	$again '/^	note_body(a, t, c);/{n;s/pass_on(a)/put_channel(\&a->woken)/}'
row channel/test_channel "a value that is taken wakes no sender" $channel \
	's/wake_waiter(ch, CHANNEL_ROOM);/(void)rc;/'

# A parent is told too early.
row task/test_done "a parent is told before its child's event fires" \
	lib/task/complete.c \
	'/^static bool tell_end/,/^}/{s/^	if (unlikely(is_slow))/	bool was_last = parent \&\& complete_child_left(parent);\n&/;s/return .*/return was_last;/}'
row task/test_done "a task above is told before its group's event fires" \
	lib/task/group.c \
	'/^static bool tell_end/,/^}/{s/^	if (has_event)/	bool was_last = complete_child_left(t);\n&/;s/return .*/return was_last;/}'
row task/test_done "a join waits for a closed group as for an open one" \
	lib/task/group.c '/^void group_await_all/,/^}/s/if (is_closed(g))/if (0)/'

# A reference stays, on an error path.
row scope/test_event_any "a refusal keeps references" $any \
	's/while (nr_got)/while (0 \&\& nr_got)/'
row channel/test_channel "a time that is up keeps its event" $wait \
	'/^static int sleep_for/,/^}/s/event_put(x->waiter.event);/;/'
row rt/test_ask "an answer may be written by its reader" lib/rt/ask_peer.c \
	's/F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE/F_SEAL_SHRINK/'
row device/test_kernel_ports "finalize() loses no device" lib/device/request.c \
	'/^static void finalize_copies/,/^}/s/device_returned(d, "finalize", rc);/;/'
row data/test_reduce_parts "the error of one copy is lost" $fold \
	's/i < r->nr && rc >= 0; i++/i < r->nr; i++/'

# A bound is one less, or one more.
row graph/test_branch "bit 28 is no branch" lib/run/control.c \
	's/branch < CONTROL_SEVERAL; branch++/branch < CONTROL_SEVERAL - 1; branch++/'
row data/test_reduce_parts "the last part is not neutral" $fold \
	's/!part && i <= d->domain.nr_parts/!part \&\& i < d->domain.nr_parts/'
row data/test_reduce_parts "the first part is not neutral" $fold \
	's/for (i = 1; !part &&/for (i = 2; !part \&\&/'
row channel/test_channel "a channel takes one value less" $channel \
	's/queue_init(&ch->queue, a->depth,/queue_init(\&ch->queue, a->depth - 1,/'
row scope/test_event_any "one in the other is one deeper" $any \
	's/any->depth > EVENT_MAX_DEPTH/any->depth > EVENT_MAX_DEPTH + 1/'
row scope/test_event_any "one in the other is one less deep" $any \
	's/any->depth > EVENT_MAX_DEPTH/any->depth >= EVENT_MAX_DEPTH/'
echo "1..$nr"
exit $failed
