# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Remote accesses of the same task programs in several runtimes, counted in a
# machine with four nodes. What cannot be built here prints one line.

NUMA_DIR := $(BUILD)/tests/bench/numa
NUMA_RUNTIMES := static lkdf data tbb libgomp libomp
NUMA_PROGRAMS := $(addprefix $(NUMA_DIR)/numa_,$(NUMA_RUNTIMES))
# The same objects for all: one body, scalar.
NUMA_COMMON := $(addprefix $(NUMA_DIR)/,body.o program.o driver.o) \
	$(COUNTER_DIR)/guest.o
NUMA_HEADERS := $(wildcard tests/bench/numa/*.h)
NUMA_ROUNDS ?= 3

$(NUMA_DIR)/%.o: tests/bench/numa/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CPPFLAGS) $(BENCH_CFLAGS) -fno-tree-vectorize \
		-MMD -MP -MF $(BUILD)/tests/bench/numa-$*.d -c -o $@ $<

$(NUMA_DIR)/numa_static: $(NUMA_DIR)/run_static.o $(NUMA_COMMON)
	$(call say,LD)
	$(Q)$(CC) -o $@ $^ -lpthread

$(NUMA_DIR)/numa_lkdf $(NUMA_DIR)/numa_data: $(NUMA_DIR)/numa_%: \
		$(NUMA_DIR)/run_%.o $(NUMA_COMMON) $(LIB_SO)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llkdf \
		-lpthread -Wl,-rpath,'$$ORIGIN/../../..'

$(NUMA_DIR)/numa_tbb: tests/bench/numa/run_tbb.cc $(NUMA_HEADERS) \
		$(NUMA_COMMON)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++17 $(BENCH_CXXFLAGS) -I. -o $@ $< \
		$(NUMA_COMMON) -ltbb -lpthread,no libtbb-dev)

$(NUMA_DIR)/numa_libgomp: tests/bench/numa/run_omp.c $(NUMA_COMMON)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -fopenmp -o $@ $< \
		$(NUMA_COMMON) -lpthread,no libgomp)

$(NUMA_DIR)/numa_libomp: tests/bench/numa/run_omp.c $(NUMA_COMMON)
	$(call say,CC)
	$(call try,clang $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -fopenmp -o $@ $< \
		$(NUMA_COMMON) -lpthread,no clang or libomp-dev)

$(NUMA_DIR)/bench_numa: $(addprefix $(NUMA_DIR)/,bench_numa.o tally.o) \
		$(COUNTER_DIR)/sections.o $(addprefix $(BUILD)/tool/tools/,\
		bench/report.o bench/machine.o json.o times.o utf8.o cli/cli.o)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lm

# Never part of make check.
.PHONY: bench-numa numa-programs
numa-programs: $(NUMA_PROGRAMS) $(NUMA_DIR)/bench_numa $(COUNTER_PROGRAMS)

bench-numa: numa-programs ## remote accesses, counted in a machine, 20 minutes
	$(Q)BUILD=$(BUILD) ROUNDS=$(NUMA_ROUNDS) tests/bench/numa/bench_numa.sh

API_TESTS += $(NUMA_DIR)/test_tally
$(NUMA_DIR)/test_tally: $(addprefix $(NUMA_DIR)/,test_tally.o tally.o) \
		$(COUNTER_DIR)/sections.o $(addprefix $(BUILD)/tool/tools/,\
		bench/report.o bench/machine.o json.o times.o utf8.o cli/cli.o)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lm
