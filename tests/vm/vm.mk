# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Programs that run in machines with several nodes, see Documentation/internals/testing.rst.
# A new test_*.c here is found by name: public headers and the shared library,
# unless it is listed as one that sees internals.

VM_PROGRAMS := $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(wildcard tests/vm/test_*.c))
VM_INTERNAL := $(addprefix $(BUILD)/tests/vm/test_,machine own sizes)
VM_SHARED := $(filter-out $(VM_INTERNAL),$(VM_PROGRAMS))

# A run of the tests boots one machine, whose size goes round by commit; another
# one with VM_SIZE=eight.
VM_SIZES := one two four eight
VM_SIZE ?= $(shell tests/turn.sh 1 four $(VM_SIZES))
# Besides, a small machine that is locked down, and the access counter.
VM_BESIDE ?= tests/vm/machine_lockdown.sh tests/vm/plugin/test_counter.sh
VM_TESTS = tests/vm/machine_$(VM_SIZE).sh $(VM_BESIDE)
VM_MATRIX := $(VM_SIZES:%=tests/vm/machine_%.sh) tests/vm/machine_lockdown.sh

$(VM_SHARED): $(BUILD)/tests/vm/%: tests/vm/%.c $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -MMD -MP \
		-o $@ $< -L$(BUILD) -llkdf -lnuma -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

$(VM_INTERNAL): $(BUILD)/tests/vm/%: tests/vm/%.c $(LIB_INTERNAL)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. $(CPPFLAGS) $(LKDF_CFLAGS) -MMD -MP -o $@ $< \
		$(LIB_INTERNAL) $(LIB_LIBS)

# What the machines run: machine.sh takes it from here. Left out is what no node
# can change and what is slow there or needs python3.
VM_LEFT_OUT_API := after always_left burst cancel cuda_device cuda_io \
	data_children data_deadlock data_failing data_follow data_graph data_moves \
	data_order data_parts data_reduce data_replicas data_roaming \
	data_trees deadline deadline_run dump error event_any event_call \
	event_faults event_fd faults flat hooks hooks_copies hooks_device \
	graph_children graph_commute graph_trees graph_weak io_busy \
	io_doctor io_faults io_faults_busy io_held io_limits io_signals \
	io_wait_busy join_bound limit loop loop_crew loop_faults loop_in many many_end \
	many_faults many_refused max_tasks meet move_faults record \
	record_refused reduce refused refused_tool serial shape stat then touch
# Nodes change little of these, which take a third of the time: with VM_ALL only,
# which check-vm-matrix has.
VM_ALL ?= $(filter check-vm-matrix,$(MAKECMDGOALS))
VM_SLOW_API := away away_emulated channel channel_stream copies data_brief \
	data_left io_fixed_busy join_nested kernel probe_price region \
	region_faults solo stall static static_taken why_busy wrapped
VM_LEFT_OUT_API += $(if $(VM_ALL),,$(VM_SLOW_API))
VM_LEFT_OUT_UNIT := block_size block_size_cuda board board_kmod deficit \
	heap_fault heap_threads loop_cuda loop_opencl loop_text membarrier nvrtc \
	history plan plan_any report_lies steal_sim stock trace_read trust
# The libcuda.so.1 and libnvrtc.so for tests are not in the machines.
VM_LEFT_OUT_CUDA := $(patsubst tests/%.c,\%/%,$(shell \
	grep -ls '"tests/cuda/' tests/unit/*/*.c tests/api/*/*.c))
VM_LIBRARY := $(filter-out $(VM_LEFT_OUT_UNIT:%=\%/test_%),$(UNIT_TESTS)) \
	$(filter-out %/bench/test_io_arms $(VM_LEFT_OUT_API:%=\%/test_%),\
	$(API_TESTS))
VM_LIBRARY := $(filter-out $(VM_LEFT_OUT_CUDA),$(VM_LIBRARY))
# The rooms that have to do with nodes are tested in each machine, of the others a
# share: nodes change little of them, too. VM_SHARE=0/1 is all.
# make check has less: VM_BRIEF.
VM_BRIEF ?=
VM_PART := 0/1
VM_SHARE ?= $(if $(VM_ALL),0/1,$(shell tests/turn.sh 5 0/6 \
	0/6 1/6 2/6 3/6 4/6 5/6))
ifneq ($(VM_BRIEF),)
VM_PART := $(shell tests/turn.sh 6 0/3 0/3 1/3 2/3)
VM_SHARE = $(shell tests/turn.sh 5 0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)/16
VM_BESIDE := $(shell tests/turn.sh 7 '' $(VM_BESIDE))
endif
VM_SHARE := $(VM_SHARE)
VM_ROOMS := $(patsubst %,$(BUILD)/tests/%/\%,unit/mem unit/policy unit/sched \
	unit/topo api/place)
VM_OTHERS := $(filter-out $(VM_ROOMS),$(VM_LIBRARY))
# share I/N,PROGRAMS: every Nth of them
vm_share = $(shell printf '%s\n' $2 | \
	awk -v share=$1 '{ split(share, s, "/") } NR % s[2] == s[1]')
VM_GUEST := $(call vm_share,$(VM_PART),$(VM_PROGRAMS) \
	$(filter $(VM_ROOMS),$(VM_LIBRARY))) $(call vm_share,$(VM_SHARE), \
	$(VM_OTHERS))
VM_ENV = BUILD=$(BUILD) VM_GUEST='$(VM_GUEST)'
# What a run of one machine leaves out.
VM_LEFT_OUT = machines other than $(VM_SIZE): make check-vm-matrix; \
	$(if $(VM_BRIEF),programs of machines but for the share $(VM_PART) and \
	all beside $(notdir $(VM_BESIDE)): make check-vm;) $(if $(VM_ALL),,programs that nodes change little of$(if \
	$(filter 0/1,$(VM_SHARE)),, but for the share $(VM_SHARE)): make \
	check-vm-matrix)

# A machine of 64 CPUs: programs with as many workers as there are CPUs.
VM_MANY := $(addprefix $(BUILD)/tests/api/,graph/test_graph place/test_place \
	rt/test_badinput rt/test_faults rt/test_fork)

.PHONY: check-vm check-vm-built check-vm-matrix check-vm-many vm-programs
check-vm-many: $(VM_MANY) $(ORACLE) $(SOAK) ## 64 workers in a machine of 64 CPUs
	$(Q)BUILD=$(BUILD) VM_MANY='$(VM_MANY)' TEST_TIMEOUT=4000 tests/run.sh \
		tests/vm/machine_many.sh

vm-programs: $(LKDF_BIN) $(MALLOC_SO) $(VM_GUEST) $(TOUR_PROGRAMS)

check-vm: deps ## tests in a machine with NUMA nodes, VM_SIZE=one two four eight
	$(Q)$(MAKE) --no-print-directory check-vm-built

# VM_KERNEL=6.1 or 6.12 for all of them.
check-vm-built: vm-programs
	$(Q)$(VM_ENV) LEFT_OUT='$(strip $(VM_LEFT_OUT))' tests/run.sh $(VM_TESTS)

check-vm-matrix: vm-programs
	$(Q)$(VM_ENV) tests/run.sh tests/vm/selftest.sh $(VM_MATRIX)
