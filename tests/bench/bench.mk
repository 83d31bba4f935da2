# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The contestants of lkdf bench, as programs of their own. What cannot be
# built here prints one line and is absent from the comparison.

BENCH_DIR := $(BUILD)/tests/bench
BENCH_SHAPES := $(addprefix $(BUILD)/tool/tests/bench/,shapes.o work.o)
BENCH_PEERS := $(addprefix $(BENCH_DIR)/,peer_lkdf peer_tbb peer_omp_gcc \
	peer_omp_clang peer_taskflow peer_starpu peer_starpu_cl peer_flow \
	peer_tbb_control peer_taskflow_control peer_omp_control \
	peer_starpu_control peer_cpp peer_tbb_cpp peer_taskflow_cpp)
# What the peers that submit link.
BENCH_SUBMIT := $(addprefix $(BUILD)/tool/tests/bench/,plan.o tiles.o shapes.o)
BENCH_SUITES := graph forkjoin loop flow submit data io idle wake channel \
	cpp placement policy device trace scale
BENCH_ARGS ?=

# All suites with all their rows: lkdf bench starts it where it lies beside it.
LKDF_BENCH := $(BUILD)/lkdf-bench
BENCH_OBJ := $(patsubst %.c,$(BUILD)/tool/%.o,$(wildcard tests/bench/suites/*.c) \
	$(addprefix tests/bench/,flow.c lkdf_flow.c tiles.c lkdf_tiles.c control.c \
	lkdf_control.c lkdf_feed.c lkdf_seal.c raw_cl.c raw_cuda.c))
# The verbs, without the program that has them and its suites.
BENCH_TOOL = $(filter-out $(addprefix %/tools/,main/lkdf.o main/completion.o \
	main/completion_options.o bench/suites.o),$(TOOLS_OBJ))

$(BUILD)/tool/tests/bench/suites/%.o: tests/bench/suites/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CPPFLAGS) $(LKDF_CFLAGS) -MMD -MP -c -o $@ $<

$(LKDF_BENCH): $(BENCH_OBJ) $(BENCH_TOOL) $(LIB_SO)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(BENCH_OBJ) $(BENCH_TOOL) -L$(BUILD) -llkdf \
		-lm -lpthread $(BPF_LIBS) $(CURSES_LIBS) -Wl,-rpath,'$$ORIGIN'

# Where taskflow/taskflow.hpp lies, if the compiler does not find it.
TASKFLOW_INCLUDE ?=

# The contestants' programs at small sizes.
API_TESTS += $(BENCH_DIR)/test_programs
$(BENCH_DIR)/test_programs: $(addprefix $(BUILD)/tool/tests/bench/,\
		test_programs.o plan.o lkdf_plan.o flow.o lkdf_flow.o tiles.o \
		lkdf_tiles.o lkdf_graph.o lkdf_once.o shapes.o control.o \
		lkdf_control.o lkdf_feed.o raw_cl.o work.o cpp_c.o) \
		$(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llkdf -lm \
		-lpthread -Wl,-rpath,'$$ORIGIN/../..'

# Judging, shapes and floor are tested like everything else.
API_TESTS += $(BENCH_DIR)/test_bench
$(BENCH_DIR)/test_bench: $(addprefix $(BUILD)/tool/,tests/bench/test_bench.o \
		tests/bench/shapes.o tests/bench/floor.o tools/bench/report.o \
		tools/bench/peer.o tools/bench/machine.o tools/json.o \
		tools/times.o tools/utf8.o tools/cli/cli.o)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lm -lpthread

# Who reads in lkdf bench io, and the locks of lkdf bench policy, at small sizes.
BENCH_ARMS := $(addprefix $(BENCH_DIR)/,test_io_arms test_locks)
API_TESTS += $(BENCH_ARMS)
$(BENCH_ARMS): $(BENCH_DIR)/%: $(BUILD)/tool/tests/bench/%.o \
		$(filter-out %/suites/suites.o,$(BENCH_OBJ)) $(BENCH_TOOL) \
		$(BUILD)/tool/tools/bench/suites.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llkdf -lm \
		-lpthread $(BPF_LIBS) $(CURSES_LIBS) -Wl,-rpath,'$$ORIGIN/../..'

# Programs of many ranks in virtual time, and their tasks with StarPU-MPI.
RANKS_DIR := $(BENCH_DIR)/ranks
RANKS_OBJ := $(addprefix $(BUILD)/tool/tests/bench/ranks/,shape.o sim.o minimum.o)
API_TESTS += $(RANKS_DIR)/test_ranks
$(RANKS_DIR)/test_ranks $(RANKS_DIR)/ranks_sim: $(RANKS_DIR)/%: \
		$(BUILD)/tool/tests/bench/ranks/%.o $(RANKS_OBJ)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^
.PHONY: bench-ranks
bench-ranks: $(RANKS_DIR)/ranks_sim ## messages and virtual time of 16 to 1,024 ranks of MPI
	$(Q)$<

BENCH_CXX ?= g++
BENCH_CXXFLAGS := -O2 -g -Wall -Wextra

# $(call try,command,why it may fail): an absent peer is no error.
try = $(Q)mkdir -p $(@D); if $1 2>$@.log; then :; else \
	echo "  absent  $(@F): $2, see $(@:$(BUILD)/%=%).log"; fi

$(BENCH_DIR)/peer_lkdf: $(BUILD)/tool/tests/bench/peer_lkdf.o \
		$(addprefix $(BUILD)/tool/tests/bench/,count_alloc.o \
		lkdf_graph.o lkdf_once.o) $(BENCH_SHAPES) \
		$(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llkdf \
		-lpthread -Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../lib'

$(BENCH_DIR)/peer_flow: $(addprefix $(BUILD)/tool/tests/bench/,peer_flow.o \
		count_alloc.o flow.o lkdf_flow.o lkdf_graph.o shapes.o) \
		$(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llkdf \
		-lpthread -Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../lib'

BENCH_HEADERS := $(wildcard tests/bench/*.h)

$(BENCH_DIR)/peer_tbb: tests/bench/peer_tbb.cc $(BENCH_HEADERS) $(BENCH_SHAPES)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++17 $(BENCH_CXXFLAGS) -I. -o $@ $< \
		$(BENCH_SHAPES) -ltbb,no libtbb-dev)

$(BENCH_DIR)/peer_taskflow: tests/bench/peer_taskflow.cc $(BENCH_HEADERS) \
		$(BENCH_SHAPES)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++20 $(BENCH_CXXFLAGS) -I. \
		$(addprefix -isystem ,$(TASKFLOW_INCLUDE)) -o $@ $< \
		$(BENCH_SHAPES) -lpthread,no taskflow headers)

# The shapes of lkdf bench cpp; without coroutines there is no peer_cpp.
$(BENCH_DIR)/peer_cpp: tests/bench/peer_cpp.cc $(BENCH_HEADERS) \
		$(wildcard lib/include/lkdf/*.hpp) \
		$(BUILD)/tool/tests/bench/cpp_c.o $(LIB_SO)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++20 $(BENCH_CXXFLAGS) -I. -Ilib/include \
		-o $@ $< $(BUILD)/tool/tests/bench/cpp_c.o -L$(BUILD) -llkdf \
		-lpthread -Wl$(comma)-rpath$(comma)'$$ORIGIN/../..:$$ORIGIN/../../lib',\
		no coroutines)

$(BENCH_DIR)/peer_tbb_cpp: tests/bench/peer_tbb_cpp.cc $(BENCH_HEADERS)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++17 $(BENCH_CXXFLAGS) -I. -o $@ $< \
		-ltbb,no libtbb-dev)

$(BENCH_DIR)/peer_taskflow_cpp: tests/bench/peer_taskflow_cpp.cc \
		$(BENCH_HEADERS)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++20 $(BENCH_CXXFLAGS) -I. \
		$(addprefix -isystem ,$(TASKFLOW_INCLUDE)) -o $@ $< \
		-lpthread,no headers of taskflow 4)

# Loops, branches and streams: what lkdf bench flow compares with.
BENCH_CONTROL := $(addprefix $(BUILD)/tool/tests/bench/,control.o work.o)

$(BENCH_DIR)/peer_lkdf_control: $(addprefix $(BUILD)/tool/tests/bench/,\
		peer_lkdf_control.o lkdf_control.o lkdf_feed.o lkdf_graph.o \
		lkdf_seal.o shapes.o) $(BENCH_CONTROL) $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter %.o,$^) -L$(BUILD) -llkdf \
		-lpthread -Wl,-rpath,'$$ORIGIN/../..:$$ORIGIN/../../lib'

$(BENCH_DIR)/peer_tbb_control: tests/bench/peer_tbb_control.cc \
		$(BENCH_HEADERS) $(BENCH_CONTROL)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++17 $(BENCH_CXXFLAGS) -I. -o $@ $< \
		$(BENCH_CONTROL) -ltbb,no libtbb-dev)

$(BENCH_DIR)/peer_taskflow_control: tests/bench/peer_taskflow_control.cc \
		$(BENCH_HEADERS) $(BENCH_CONTROL)
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++20 $(BENCH_CXXFLAGS) -I. \
		$(addprefix -isystem ,$(TASKFLOW_INCLUDE)) -o $@ $< \
		$(BENCH_CONTROL) -lpthread,no taskflow headers)

$(BENCH_DIR)/peer_omp_control: tests/bench/peer_omp_control.c \
		$(BENCH_HEADERS) $(BENCH_CONTROL)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -fopenmp -o $@ $< \
		$(BENCH_CONTROL),no libgomp)

$(BENCH_DIR)/peer_starpu_control: tests/bench/peer_starpu_control.c \
		$(BENCH_HEADERS) $(BENCH_CONTROL)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -o $@ $< \
		$(BENCH_CONTROL) $$(pkg-config --cflags starpu-1.3 | \
		sed 's/-I/-isystem /g') -lstarpu-1.3 -lm -lpthread,\
		no libstarpu-dev)

$(BENCH_DIR)/peer_omp_gcc: tests/bench/peer_omp.c $(BENCH_HEADERS) \
		$(BENCH_SUBMIT)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -fopenmp -o $@ $< \
		$(BENCH_SUBMIT) -lm,no libgomp)

$(BENCH_DIR)/peer_omp_clang: tests/bench/peer_omp.c $(BENCH_HEADERS) \
		$(BENCH_SUBMIT)
	$(call say,CC)
	$(call try,clang $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -fopenmp -o $@ $< \
		$(BENCH_SUBMIT) -lm,no clang or libomp-dev)

# pkg-config is asked when it is built, so that it may be absent before.
$(BENCH_DIR)/peer_starpu: tests/bench/peer_starpu.c $(BENCH_HEADERS) \
		$(BENCH_SUBMIT)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -o $@ $< \
		$(BENCH_SUBMIT) $$(pkg-config --cflags starpu-1.3 | \
		sed 's/-I/-isystem /g') -lstarpu-1.3 -lm -lpthread,\
		no libstarpu-dev)

$(BENCH_DIR)/peer_starpu_cl: tests/bench/peer_starpu_cl.c $(BENCH_HEADERS)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -o $@ $< \
		$$(pkg-config --cflags starpu-1.3 | \
		sed 's/-I/-isystem /g') -lstarpu-1.3 -l:libOpenCL.so.1 -lm \
		-lpthread,no libstarpu-dev or opencl-headers)

# STARPU_COMM_STATS=1 mpirun -n 16 ranks_starpu cholesky
$(RANKS_DIR)/ranks_starpu: $(addprefix tests/bench/ranks/,ranks_starpu.c shape.c shape.h)
	$(call say,CC)
	$(call try,gcc $(BENCH_CFLAGS) $(BENCH_CPPFLAGS) -o $@ $(filter %.c,$^) \
		$$(pkg-config --cflags starpumpi-1.3 ompi-c | \
		sed 's/-I/-isystem /g') $$(pkg-config --libs starpumpi-1.3 \
		ompi-c),no libstarpu-dev or libopenmpi-dev)

# The allocators: a program for any malloc, and the one that compares.
$(BENCH_DIR)/alloc: $(BUILD)/tool/tests/bench/alloc.o
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< -lpthread

$(BUILD)/tool/tests/bench/alloc.o: BENCH_CFLAGS += -fno-builtin

$(BENCH_DIR)/alloc_purity: tests/bench/alloc_purity.c $(LIB_INTERNAL)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib $(CPPFLAGS) $(LKDF_CFLAGS) -MMD -MP -o $@ $< \
		$(LIB_INTERNAL) $(LIB_LIBS)

$(BENCH_DIR)/alloc_driver: $(addprefix $(BUILD)/tool/,\
		tests/bench/alloc_driver.o tools/bench/report.o \
		tools/bench/machine.o tools/bench/gate.o tools/json.o \
		tools/times.o tools/utf8.o tools/cli/cli.o)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $^ -lm -lpthread

.PHONY: bench-alloc
bench-alloc: $(MALLOC_SO) $(addprefix $(BENCH_DIR)/,alloc alloc_purity \
		alloc_driver)
	$(Q)$(BENCH_DIR)/alloc_driver $(BENCH_ARGS) \
		--out $(BUILD)/bench-alloc.json $(abspath $(BUILD))

# Ordinary programs with each malloc that can be preloaded here.
$(BENCH_DIR)/patterns: tests/bench/malloc/patterns.cc
	$(call say,CXX)
	$(call try,$(BENCH_CXX) -std=c++17 $(BENCH_CXXFLAGS) -fno-builtin -o $@ \
		$< -lpthread,no C++ compiler)

.PHONY: bench-patterns
bench-patterns: $(MALLOC_SO) $(BENCH_DIR)/patterns ## ordinary programs with liblkdf-malloc beside other allocators
	$(Q)python3 tests/bench/malloc/table.py $(BENCH_DIR)/patterns \
		$(abspath $(MALLOC_SO)) $(BENCH_ARGS)

.PHONY: bench bench-peers $(addprefix bench-,$(BENCH_SUITES))
.PHONY: bench-report
bench-report: $(LKDF_BIN) ## time of a report, size of a page
	$(Q)python3 tests/bench/report.py $(LKDF_BIN)

bench-peers: $(LKDF_BIN) $(LKDF_BENCH) $(BENCH_PEERS) ## lkdf-bench and the programs of peers

# Each suite prints its table and writes build/bench-<suite>.json.
$(addprefix bench-,$(BENCH_SUITES)): bench-%: bench-peers
	$(Q)tools/native.sh $(LKDF_BIN) $(LKDF_BENCH)
	$(Q)$(LKDF_BIN) bench $* $(BENCH_ARGS) --out $(BUILD)/bench-$*.json

.PHONY: bench-control
bench-control: bench-peers ## what control flow costs: instructions and times, now and before
	$(Q)python3 tests/bench/control_table.py $(BENCH_DIR) $(BENCH_ARGS)

# Programs of OpenMP, by gcc; nothing of them is lkdf's but the preload.
$(BENCH_DIR)/openmp_cases: tests/bench/openmp/cases.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(call try,gcc $(BENCH_CFLAGS) -fopenmp -o $@ $< -lm,no libgomp)

.PHONY: bench-openmp
bench-openmp: $(BENCH_DIR)/openmp_cases gomp ## programs of OpenMP beside libgomp, idle and loaded, 5 minutes
	$(Q)python3 tests/bench/openmp/table.py $(BENCH_DIR)/openmp_cases \
		$(abspath $(BUILD))/liblkdf-gomp.so $(BENCH_ROUNDS)

.PHONY: scale-kit
scale-kit: bench-peers ## a folder that measures a machine without the sources: ./scale
	$(Q)tests/bench/kit.sh $(BUILD)

# What benches have printed, where the page has it. Benches are not run.
FIGURES := Documentation/figures.rst
.PHONY: figures
figures: ## tables of Documentation/figures.rst from the newest benches
	$(Q)set -- $(wildcard $(patsubst %,$(BUILD)/bench-%.json,\
			$(BENCH_SUITES) alloc)); \
	[ $$# -gt 0 ] || { echo "figures: no $(BUILD)/bench-SUITE.json:" \
		"make bench, or make bench-SUITE, writes them" >&2; exit 1; }; \
	python3 tests/bench/figures.py $(FIGURES) "$$@"

bench:
	$(Q)rc=0; for s in $(BENCH_SUITES) alloc; do \
		$(MAKE) --no-print-directory bench-$$s || rc=1; done; exit $$rc
