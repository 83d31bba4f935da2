# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Product code under the model checker: tests/mc/README.rst.
#
# tests/mc/mc_NAME.c is a program; MC_SRC_NAME names the sources it checks.

# idle.c as it is shipped, and the rows of tests/mc/rows_below.h.
MC_IDLE := $(addprefix lib/sched/,backlog.c deque.c idle.c intake.c joiner.c \
	mechanism.c notify.c park.c sleep.c tick.c timers.c worker.c) \
	$(addprefix lib/mechanism/,crew/crew.c crew/crew_place.c due/due.c \
	gate/gate.c gate/gate_ring.c gate/gate_stuck.c gate/gate_turn.c \
	holdoff/holdoff.c home/home.c nodes/nodes.c part/part.c \
	part/part_place.c publish/publish.c victims/victims.c)

MC_SRC_cancel = $(MC_SRC_scope)
MC_SRC_channel = $(MC_SRC_event) lib/channel/channel.c lib/channel/queue.c \
	lib/channel/channel_wait.c lib/task/again.c
MC_SRC_claim := lib/base/lock.c lib/data/claim.c lib/data/prepare.c \
	lib/data/token.c lib/data/var.c
MC_SRC_crew := lib/mechanism/crew/crew.c
MC_SRC_deque := lib/sched/deque.c
MC_SRC_event := lib/base/lock.c lib/scope/event.c lib/scope/event_any.c \
	lib/scope/event_pulse.c lib/scope/event_tap.c lib/mem/class.c
MC_SRC_pulse = $(MC_SRC_event)
MC_SRC_dig = $(MC_SRC_strand)
MC_SRC_done = $(MC_SRC_event) lib/task/complete.c lib/task/child_error.c \
	lib/task/group.c
MC_SRC_far = $(MC_SRC_ring)
MC_SRC_frame := lib/run/frame.c lib/run/frame_error.c
MC_SRC_gate = $(MC_SRC_strand)
MC_SRC_group = $(MC_SRC_strand)
MC_SRC_help = $(MC_SRC_strand) lib/sched/help.c
MC_SRC_inbox := lib/base/lock.c lib/sched/backlog.c
MC_SRC_join := lib/sched/deque.c lib/sched/joiner.c
MC_SRC_lend := lib/sched/help.c lib/mechanism/lend/lend.c lib/sched/park.c lib/mechanism/quota/quota.c
MC_SRC_lock := lib/base/lock.c
MC_SRC_loop := lib/run/control.c lib/seal/edge_order.c
MC_SRC_part = $(MC_SRC_strand)
MC_SRC_park := lib/sched/deque.c lib/sched/park.c
MC_SRC_reduce := $(MC_SRC_claim)
MC_SRC_clock := lib/base/lock.c lib/sched/park.c lib/sched/timers.c
MC_SRC_replica := $(MC_SRC_reduce) lib/data/replica.c
MC_SRC_ring := lib/base/lock.c lib/ring/uring.c lib/io/io_far.c \
	lib/io/io_ring.c lib/io/io_ring_peek.c \
	$(MC_IDLE)
MC_SRC_room := lib/scope/room.c
MC_SRC_scope := lib/scope/scope.c lib/scope/scope_error.c \
	lib/scope/deadline.c lib/scope/room.c
MC_SRC_stream := lib/run/frame.c lib/run/frame_error.c lib/run/port_run.c \
	lib/run/stream.c
MC_SRC_strand := lib/base/lock.c $(MC_IDLE)
MC_SRC_team := lib/base/lock.c lib/sched/park.c lib/mechanism/team/team.c
MC_SRC_urgent = $(MC_SRC_strand)
MC_SRC_then := $(MC_SRC_event)
MC_SRC_watch :=
MC_SRC_tick := lib/base/lock.c lib/sched/park.c lib/sched/tick.c \
	lib/sched/timers.c
MC_SRC_weak := $(MC_SRC_claim)

MC_NAMES := $(patsubst tests/mc/mc_%.c,%,$(wildcard tests/mc/mc_*.c))
MC_PROGRAMS := $(MC_NAMES:%=$(BUILD)/tests/mc/mc_%)
# make check has a second for each scenario and a sixteenth of the mutants.
MC_TESTS := $(MC_PROGRAMS) $(BUILD)/tests/mc/mutants $(BUILD)/tests/mc/plants
MC_CHECKER := $(patsubst %.c,$(BUILD)/mc/%.o,\
	$(filter-out tests/mc/mc_%.c,$(wildcard tests/mc/*.c)))
MC_CFLAGS := -std=c11 $(WARN) -O2 -g -DLKDF_MC -Itests/mc -Ilib \
	-Ilib/include -Ikmod/uapi -I. -D_GNU_SOURCE

$(BUILD)/mc/%.o: %.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(MC_CFLAGS) -MMD -MP -c -o $@ $<

# So that a cancel takes one lock: the shards have nothing in common.
MC_CFLAGS += -DEVENT_SHARDS=1

# A round of spinning waits for a change: with more nobody would ever sleep.
$(BUILD)/mc/lib/base/lock.o: MC_CFLAGS += -DLOCK_SPINS=1

# So that a quarter is a few.
$(BUILD)/mc/lib/scope/room.o: MC_CFLAGS += -DROOM_MANY=8

# So that the checker knows this memory.
$(BUILD)/mc/lib/scope/scope.o: MC_CFLAGS += -Daligned_alloc=mc_aligned_alloc \
	-Dfree=mc_free
$(BUILD)/mc/lib/data/var.o: MC_CFLAGS += -Dcalloc=mc_calloc

$(BUILD)/mc/lib/channel/channel.o: MC_CFLAGS += \
	-Daligned_alloc=mc_aligned_alloc -Dfree=mc_free
$(BUILD)/mc/lib/channel/queue.o: MC_CFLAGS += -Dcalloc=mc_calloc \
	-Dfree=mc_free -Dmemcpy=mc_memcpy

# So that the time is the scenario's.
$(BUILD)/mc/lib/scope/%.o: MC_CFLAGS += -Dclock_gettime=mc_clock_gettime

# So that the CPU is.
$(BUILD)/mc/lib/sched/park.o: MC_CFLAGS += -Dsched_getcpu=mc_getcpu

# So that the kernel is the scenario's.
$(BUILD)/mc/lib/ring/uring.o: MC_CFLAGS += -Dsyscall=mc_syscall

# So that waves gather in a stream of a few.
$(BUILD)/mc/lib/run/stream.o: MC_CFLAGS += -DSTREAM_TURN=2

# So that it sees the bytes.
$(BUILD)/mc/lib/data/replica.o: MC_CFLAGS += -Dmemcpy=mc_memcpy

define mc_program
$(BUILD)/tests/mc/mc_$1: $(BUILD)/mc/tests/mc/mc_$1.o $(MC_CHECKER) \
		$(MC_SRC_$1:%.c=$(BUILD)/mc/%.o)
	$$(call say,LD)
	$(Q)mkdir -p $$(@D)
	$(Q)$$(CC) -o $$@ $$^
endef
$(foreach n,$(MC_NAMES),$(eval $(call mc_program,$n)))

# A test program that weakens each access in turn and runs all the others.
# The slow ones come last: they need not look at what others kill.
MC_SLOW := $(addprefix $(BUILD)/tests/mc/mc_,group part strand ring far)
MC_MUTATED := $(filter-out %/mc_litmus $(MC_SLOW),$(MC_PROGRAMS)) $(MC_SLOW)
$(BUILD)/tests/mc/mutants: $(MC_PROGRAMS) tests/mc/mc.mk
	$(Q)printf '#!/bin/sh\nexec tests/mc/mutate.sh%s\n' \
		'$(patsubst %, %,$(MC_MUTATED))' >$@
	$(Q)chmod +x $@

# Bugs that the model checker does not see and tests of tests/api do.
PLANTS := $(BUILD)/tests/mc/plants
PLANTS_API := $(addprefix $(BUILD)/tests/api/,$(sort \
	$(shell sed -n 's/^row \([^ ]*\) .*/\1/p' tests/mc/plants.sh)))
$(PLANTS): tests/mc/plants.sh tests/oracle/plant.sh $(PLANTS_API) $(LIB_SO)
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\n%s %s %s %s %s exec %s\n' "BUILD='$(BUILD)'" \
		"CC='$(CC)'" "CFLAGS='$(CFLAGS)'" "LDFLAGS='$(LDFLAGS)'" \
		'PLANT_SHARE=$${PLANTS_SHARE:-0/1}' $< >$@
	$(Q)chmod +x $@
PLANTS_SHARE ?= $(shell tests/turn.sh 5 0/10 0/10 1/10 2/10 3/10 4/10 5/10 \
	6/10 7/10 8/10 9/10)

# Those whose turn it is, and seconds for each scenario.
MC_SHARE ?= $(shell tests/turn.sh 2 0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)/16
MC_SECONDS ?= 1
MC_SECONDS_LONG := 20

.PHONY: check-mc
check-mc: $(MC_TESTS) ## the model checker's programs alone, all mutants
	$(Q)BUILD=$(BUILD) MC_SHARE=0/1 PLANTS_SHARE=0/1 \
		MC_JOBS=$$(nproc) \
		MC_SECONDS=$(MC_SECONDS_LONG) tests/run.sh $(MC_TESTS)
