# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Every test is a program that speaks TAP; tests/run.sh runs and counts them.

# A test_*.c of tests/unit or tests/api, or of a folder below one of them, is
# found by its name. The folders are the rooms of lib that the tests are about.
find_tests = $(patsubst tests/%.c,$(BUILD)/tests/%,\
	$(wildcard tests/$1/test_*.c tests/$1/*/test_*.c))
UNIT_TESTS := $(call find_tests,unit)
API_TESTS := $(call find_tests,api)
# Scripts that use the library as a user would.
API_SH_TESTS := $(wildcard tests/tools/test_*.sh)

include tests/lint/lint.mk

include tests/bench/bench.mk

# More flags for the programs of tests/unit and tests/api, not for what they test.
TEST_CFLAGS ?=
TEST_FLAGS = $(LKDF_CFLAGS) $(TEST_CFLAGS) -MMD -MP

# Unit tests may see internals and link the static library.
$(BUILD)/tests/unit/%: tests/unit/%.c $(LIB_INTERNAL)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Itools $(CPPFLAGS) $(TEST_FLAGS) -o $@ $< \
		$(LIB_INTERNAL) $(LIB_LIBS)

# What is checked against the CUDA toolkit: that of nvcc, of CUDA_HOME or where
# it usually lies. CUDA_HOME= builds without.
CUDA_HOME ?= $(firstword $(wildcard \
	$(patsubst %/bin/nvcc,%,$(realpath $(shell command -v nvcc))) \
	/usr/local/cuda /opt/cuda))
CUDA_HOME := $(CUDA_HOME)
HAVE_CUDA_OCCUPANCY := $(if $(CUDA_HOME),$(wildcard \
	$(CUDA_HOME)/include/cuda_occupancy.h))
$(BUILD)/tests/unit/policy/test_block_size_cuda: CPPFLAGS += \
	$(if $(HAVE_CUDA_OCCUPANCY),-DHAVE_CUDA_OCCUPANCY -isystem \
	$(CUDA_HOME)/include)
HAVE_CUDA_TYPES := $(if $(CUDA_HOME),$(wildcard \
	$(CUDA_HOME)/include/cudaTypedefs.h))
CUDA_STUB := $(if $(CUDA_HOME),$(firstword $(wildcard \
	$(CUDA_HOME)/lib64/stubs/libcuda.so $(CUDA_HOME)/lib/stubs/libcuda.so)))
$(BUILD)/tests/unit/cuda/test_abi: CPPFLAGS += \
	$(if $(HAVE_CUDA_TYPES),-DHAVE_CUDA_TYPES -isystem \
	$(CUDA_HOME)/include) \
	$(if $(CUDA_STUB),-DCUDA_STUB='"$(CUDA_STUB)"')
NVRTC := $(if $(CUDA_HOME),$(firstword $(wildcard \
	$(CUDA_HOME)/lib64/libnvrtc.so $(CUDA_HOME)/lib/libnvrtc.so)))
$(BUILD)/tests/unit/cuda/test_nvrtc: CPPFLAGS += \
	$(if $(NVRTC),-DNVRTC='"$(NVRTC)"')

# The analysis of lkdf report, without its verb.
REPORT_OBJ = $(filter-out %/verb.o %/try.o %/try_run.o %/try_turns.o, \
	$(filter $(BUILD)/tool/tools/report/%,$(TOOLS_OBJ))) $(PAGE_C:.c=.o) $(addprefix $(BUILD)/tool/tools/, \
	cli/cli.o foreign.o json.o times.o utf8.o words.o \
	$(addprefix probe/,demangle.o elf_symbol.o where.o) \
	$(addprefix trace/,bytes.o clock.o facts.o get.o kernel_facts.o links.o read.o timed.o))
# By name: make 4.4 prefers the pattern of all unit tests in some orders of a build.
REPORT_TESTS := $(patsubst tests/%.c,$(BUILD)/tests/%, \
	$(wildcard tests/unit/trace/test_report_*.c))
$(REPORT_TESTS): $(BUILD)/tests/unit/trace/%: tests/unit/trace/%.c $(REPORT_OBJ)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Itools $(CPPFLAGS) $(TEST_FLAGS) -o $@ $< \
		$(REPORT_OBJ) -lm -lpthread

# The verbs themselves, without the program that has them.
$(BUILD)/tests/unit/trace/test_trace_fuzz: tests/unit/trace/test_trace_fuzz.c \
		$(filter-out %/tools/main/lkdf.o %/tools/main/completion.o \
			%/tools/main/completion_options.o,$(TOOLS_OBJ)) $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Itools $(CPPFLAGS) $(TEST_FLAGS) -o $@ $< \
		$(filter %.o,$^) -L$(BUILD) -llkdf -lm -lpthread $(BPF_LIBS) \
		$(CURSES_LIBS) -Wl,-rpath,'$$ORIGIN/../../..'

# They load it while they run.
$(patsubst tests/%.c,$(BUILD)/tests/%,$(wildcard $(addprefix tests/, \
	api/*/test_hooks*.c))): \
	| $(BUILD)/examples/hooks_count.so $(BUILD)/examples/hooks_paje.so

# What a caller would have a program load.
$(BUILD)/tests/unit/base/says_loaded.so: tests/unit/base/says_loaded.c
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -shared -fPIC $(TEST_FLAGS) -o $@ $<
$(BUILD)/tests/unit/base/test_rights: \
	| $(BUILD)/tests/unit/base/says_loaded.so

# API tests see public headers only and link the shared library.
$(BUILD)/tests/api/%: tests/api/%.c $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(TEST_FLAGS) \
		-o $@ $< -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../..'

# A library of OpenMP, as programs have it; HAVE_OMP=0 tests without.
HAVE_OMP ?= $(shell echo 'int omp_get_max_threads(void); \
	int main(void) { return omp_get_max_threads() < 1; }' | \
	$(CC) $(CFLAGS) -fopenmp -x c - -o /dev/null 2>/dev/null && echo 1)
HAVE_OMP := $(HAVE_OMP)
$(BUILD)/tests/api/task/test_team: \
	LKDF_CFLAGS += $(if $(filter 1,$(HAVE_OMP)),-fopenmp)
# The library looks for functions of the program by name.
$(BUILD)/tests/api/task/test_team_blas: LKDF_CFLAGS += -rdynamic

# timeout(1) for the scripts of tests, by which a busy machine has longer seconds.
LIMIT := $(BUILD)/tests/limit
$(LIMIT): tests/tools/limit.c
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -D_GNU_SOURCE $(TEST_FLAGS) -o $@ $<

include tests/mc/mc.mk
include tests/rmw/rmw.mk
include tests/oracle/oracle.mk
include tests/ablate/ablate.mk
include tests/mutants/mutants.mk
include tests/cuda/cuda.mk
include tests/vm/vm.mk
include tests/vm/plugin/plugin.mk
include tests/bench/numa/numa.mk
include tests/kmod/kmod.mk

.PHONY: check deps
deps: ## install the packages that building and testing need
	$(Q).ci/deps

# The same programs with a sanitizer, of gcc: clang's do not link with
# --no-undefined. They go into the one run that counts. Their library checks
# itself, see check() in lib/base/util.h. Tests are compiled in half the time
# without the optimizations, the library has them.
ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all
C_TESTS = $(UNIT_TESTS) $(API_TESTS) $(CUDA_CHECK) $(ORACLES)
# The oracles, and a half of the others by commit; ASAN_SHARE=0/1: all of them.
ASAN_SHARE ?= $(shell tests/turn.sh 6 0/2 0/2 1/2)
ASAN_TESTS = $(patsubst $(BUILD)/%,$(BUILD)/asan/%,$(ORACLES) \
	$(call vm_share,$(ASAN_SHARE),$(filter-out $(ORACLES),$(C_TESTS))))
# A part of the name of the tests to run.
NAME ?=

ifneq ($(NAME),)
check: ## all tests, about 15 minutes on two cores; NAME=test_solo SAN=thread: some
	$(Q)$(MAKE) $(JOBS) --no-print-directory $(SAN_ARGS) check-named
else
check: deps
	$(Q)$(MAKE) $(JOBS) --no-print-directory CC=gcc BUILD=$(BUILD)/asan \
		CFLAGS='-O1 -g -fno-omit-frame-pointer -DLKDF_DEBUG $(ASAN)' \
		LDFLAGS='$(ASAN)' TEST_CFLAGS=-Og $(ASAN_TESTS)
	$(Q)$(MAKE) $(JOBS) --no-print-directory ALSO='$(ASAN_TESTS)' \
		VM_BRIEF=$(if $(filter all,$(ONCE)),,1) check-built
endif

check-long: ## all that make check takes a part of, and more, hours
	$(Q).ci/run long

# With few packages: what is left out is named, and the core works.
FEW := $(BUILD)/few
FEW_TESTS := $(addprefix $(FEW)/tests/api/,data/test_data_order \
	$(addprefix graph/test_,graph record static) \
	$(addprefix io/test_,io io_faults) place/test_place rt/test_error \
	$(addprefix scope/test_,cancel deadline event_any scope) \
	$(addprefix task/test_,join limit loop many spawn then)) \
	$(addprefix $(FEW)/tests/unit/,base/test_option mem/test_heap_free \
	policy/test_plan sched/test_deque sched/test_park topo/test_topo)
check-few: ## build and core tests with hwloc, libnuma and liburing alone
	$(Q)mkdir -p $(FEW)
	$(Q)printf '#!/bin/sh\nexec tests/tools/few.sh %s\n' '$(FEW_TESTS)' >$(FEW)/few
	$(Q)chmod +x $(FEW)/few
	$(Q)BUILD=$(FEW) tests/run.sh $(FEW)/few $(FEW_TESTS)

# Threads, joins, scopes, queues and memory by the rules of another machine.
ARM64 := $(BUILD)/arm64
ARM64_TESTS := $(addprefix $(ARM64)/tests/api/, \
	$(addprefix scope/test_,cancel event_any scope) \
	$(addprefix task/test_,join spawn then)) \
	$(addprefix $(ARM64)/tests/unit/,base/test_option mem/test_heap_free \
	policy/test_plan sched/test_deque sched/test_park topo/test_topo)
check-arm64: ## core tests for arm64 under qemu-user; ARM64_ROOT= has its libraries
	$(Q)mkdir -p $(ARM64)
	$(Q)printf '#!/bin/sh\nexec tests/tools/arm64.sh %s\n' '$(ARM64_TESTS)' >$(ARM64)/run
	$(Q)chmod +x $(ARM64)/run
	$(Q)BUILD=$(ARM64) tests/run.sh $(ARM64)/run

# Requests of MPI with a sanitizer, by Open MPI: tests/mpi/*.supp name what is MPI's.
check-mpi: ## ranks of MPI; SAN=address or SAN=thread: with that sanitizer
	$(Q)$(MAKE) $(JOBS) --no-print-directory $(SAN_ARGS) SAN_IS=$(SAN) SAN= \
		check-mpi-built

check-mpi-built: $(LKDF_BIN) $(LIMIT)
	$(Q)SAN=$(SAN_IS) CC='$(CC)' CFLAGS='$(CFLAGS)' LDFLAGS='$(LDFLAGS)' \
		BUILD=$(BUILD) tests/run.sh tests/tools/test_mpi.sh

check-gomp: all $(LIMIT) ## gcc's programs for libgomp, about 10 minutes
	$(Q).ci/deps more
	$(Q)BUILD=$(BUILD) TEST_TIMEOUT=6000 tests/run.sh tests/gomp/suite.py

.PHONY: check-arm64 check-few check-gomp check-mpi check-mpi-built check-programs check-long
check-programs: $(C_TESTS)

# What finds the same in every build is run with one: the rules of the tree, the
# model checker and its mutants, bugs that the oracle must find, and the tests
# of what tests. ONCE= leaves it out, ONCE=all is make check-long's.
ONCE ?= share
ONCE_ASIDE := $(if $(ONCE),$(LINT_TESTS) $(MC_TESTS) $(ORACLE_SELFTEST) \
	$(RMW_TEST))
ONCE_TESTS := $(if $(ONCE),tests/run_selftest.sh tests/vm/selftest.sh \
	$(API_SH_TESTS) $(KMOD_SH_TESTS))
# Of the system calls that test_refused* refuse; see tests/api/refused.h.
REFUSED_SHARE ?= $(shell tests/turn.sh 8 0 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)/64
# Of the compilers, examples and planted races of test_check*.sh.
CHECK_SHARE ?= $(shell tests/turn.sh 9 0/2 0/2 1/2)
ifeq ($(ONCE),all)
REFUSED_SHARE := 0/1
CHECK_SHARE := 0/1
MC_SHARE := 0/1
PLANTS_SHARE := 0/1
MC_SECONDS := $(MC_SECONDS_LONG)
PLANT_SHARE := 0/1
endif

# ALSO: programs of other builds, run with ours.
ALSO :=

# Tests of one thread, the most of them of what the tool makes of files: the thread
# sanitizer finds nothing in them and makes them slow. ONE_THREAD= runs them.
ONE_THREAD := unit/policy/test_narrow_sim unit/policy/test_steal_sim \
	$(addprefix unit/trace/test_, \
	report_lies trace_fuzz trace_read)
SINGLE = $(strip $(if $(findstring -fsanitize=thread,$(CFLAGS)), \
	$(ONE_THREAD:%=$(BUILD)/tests/%)))
# TEST_SHARE=I/N runs every Nth of the others. A lane whose build is not the first
# one goes round by commit: check-programs builds what it does not run.
TEST_SHARE ?= 0/1
OUR_TESTS = $(if $(filter 0/1,$(TEST_SHARE)),$(MANY_TESTS),$(call \
	vm_share,$(TEST_SHARE),$(MANY_TESTS)))
MANY_TESTS = $(filter-out $(SINGLE),$(UNIT_TESTS) $(API_TESTS) $(CUDA_CHECK))

# What looks at nothing but its own process runs two at a time beside the others:
# what computes and what sleeps share the CPUs. Other scripts, what takes CPUs away,
# and what loads BPF programs come one after the other. The longest programs begin.
SH_ASIDE := tests/vm/selftest.sh tests/kmod/test_reader.sh \
	tests/kmod/test_manual.sh $(patsubst %,tests/tools/test_%.sh, \
	bench_work cmake completion config demo device_examples device_rows dist dupes examples first \
	figures flow_examples headers man mistakes options readme report_page scale_kit thrown tls \
	tutorial)
ALONE := $(addprefix %/test_,alarm cpuset quota seats probe_learn probe_maps \
	probe_pins probe_signals)
LONG := %/selftest %/mutants %/plants %/mc_strand %/oracle %/control \
	%/lint.sh $(addprefix %/test_,report_lies stall region static sandbox \
	exposed ask trace_read device_examples.sh dupes.sh report_page.sh)
MAY_RUN_ASIDE = $(ONCE_ASIDE) $(filter $(SH_ASIDE),$(ONCE_TESTS)) $(ORACLES) \
	$(filter-out $(ALONE),$(OUR_TESTS) $(ALSO))
ASIDE = $(filter $(LONG),$(MAY_RUN_ASIDE)) $(filter-out $(LONG),$(MAY_RUN_ASIDE))

# What a run leaves out is told with the command that runs it.
LEFT_OUT = $(if $(ONCE),$(LEFT_OUT_ONCE)) $(if $(ALSO),$(if \
	$(filter 0/1,$(ASAN_SHARE)),,tests other than share $(ASAN_SHARE) with the \
	address sanitizer: make check ASAN_SHARE=0/1;)) $(if $(SINGLE),tests of one thread \
	($(notdir $(SINGLE))): make check-built with the same and ONE_THREAD=;) \
	$(if $(filter 0/1,$(TEST_SHARE)),,tests other than share $(TEST_SHARE): \
	make check-built with the same and TEST_SHARE=0/1)
LEFT_OUT_ONCE = $(if $(findstring tests/kmod/machine,$(VM_TESTS)),,the kernel \
	module: make check-vm-kmod;) $(if $(VM_TESTS),$(VM_LEFT_OUT),all \
	machines: make check-vm-matrix); \
	$(if $(filter 0/1,$(MC_SHARE)),,mutants other than share \
	$(MC_SHARE), planted bugs other than share $(PLANTS_SHARE) and \
	more than $(MC_SECONDS) s for each search: \
	make check-mc;) $(if $(filter 0/1,$(PLANT_SHARE)),,bugs for the \
	oracle other than share $(PLANT_SHARE): make oracle-selftest);

.PHONY: check-built
check-built: all $(LIMIT) $(LKDF_BENCH) $(TOUR_PROGRAMS) $(OUR_TESTS) $(ORACLES) $(KMOD_NATIVE) \
		$(filter $(BUILD)/%,$(ONCE_ASIDE)) $(if $(ONCE),$(GPU_FILL)) \
		$(if $(VM_TESTS),vm-programs)
	$(Q)$(VM_ENV) CC=$(CC) DUPES=$(BUILD)/examples/dupes \
		MC_SHARE=$(MC_SHARE) MC_SECONDS=$(MC_SECONDS) REFUSED_SHARE=$(REFUSED_SHARE) \
		CHECK_SHARE=$(CHECK_SHARE) \
		PLANT_SHARE=$(PLANT_SHARE) PLANTS_SHARE=$(PLANTS_SHARE) ORACLE_BASE=$(ORACLE_BASE) \
		ASIDE='$(ASIDE)' \
		LEFT_OUT='$(strip $(LEFT_OUT))' tests/run.sh \
		$(filter-out $(ASIDE),$(ONCE_TESTS) $(OUR_TESTS) \
		$(KMOD_NATIVE) $(VM_TESTS) $(ALSO))

include tests/dev.mk
include tests/coverage/coverage.mk
