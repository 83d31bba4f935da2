# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Examples: programs a user may copy. They see the public headers only and
# link the shared library. tests/tools/test_examples.sh compiles them too.

EXAMPLE_DIR := Documentation/examples
# dupes hashes with xxhash, which nothing else of lkdf needs.
EXAMPLES := $(addprefix $(BUILD)/examples/,hello cholesky engine engine_demo saxpy saxpy_loop pipeline server convoy \
	$(if $(HAVE_XXHASH),dupes) hooks_count.so hooks_paje.so)
DUPES_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(EXAMPLE_DIR)/dupes/*.c))
ENGINE_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(EXAMPLE_DIR)/engine/*.c))
SERVER_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(EXAMPLE_DIR)/server/*.c))
# The programs of Documentation/patterns.rst and ports.rst
FLOW := $(patsubst $(EXAMPLE_DIR)/%,$(BUILD)/examples/%,$(basename \
	$(wildcard $(EXAMPLE_DIR)/flow/*.c $(EXAMPLE_DIR)/flow/*.cc \
	$(EXAMPLE_DIR)/guide/*.c))) \
	$(BUILD)/examples/ports/main
# What make tour runs.
TOUR_PROGRAMS := $(addprefix $(BUILD)/examples/,cholesky convoy guide/sums)
EXAMPLE_LIBS := -L$(BUILD) -llkdf -Wl,-rpath,'$$ORIGIN/..'

$(BUILD)/$(EXAMPLE_DIR)/%.o: $(EXAMPLE_DIR)/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -MMD -MP \
		-c -o $@ $<

$(BUILD)/$(EXAMPLE_DIR)/%.o: $(EXAMPLE_DIR)/%.cc
	$(call say,CXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) -std=c++17 -Wall -Wextra $(ERROR) -Wshadow $(HARDEN) \
		$(CFLAGS) -Ilib/include -MMD -MP -c -o $@ $<

$(BUILD)/examples/hello: $(BUILD)/$(EXAMPLE_DIR)/hello.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS)

$(BUILD)/examples/hooks_%.so: $(EXAMPLE_DIR)/hooks/%.c lib/include/lkdf/hooks.h
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -fPIC -shared \
		$(LDFLAGS) -o $@ $<

$(BUILD)/examples/dupes: $(DUPES_OBJ) $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(DUPES_OBJ) $(EXAMPLE_LIBS) \
		-lxxhash -lpthread

$(BUILD)/examples/cholesky: $(BUILD)/$(EXAMPLE_DIR)/cholesky.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS) -lm

$(BUILD)/examples/saxpy: $(BUILD)/$(EXAMPLE_DIR)/device/saxpy.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS) -lpthread

$(BUILD)/examples/saxpy_loop $(BUILD)/examples/pipeline: \
		$(BUILD)/examples/%: $(BUILD)/$(EXAMPLE_DIR)/device/%.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS)

$(BUILD)/examples/convoy: $(BUILD)/$(EXAMPLE_DIR)/convoy.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS) -lpthread

$(BUILD)/examples/engine: $(ENGINE_OBJ) $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(ENGINE_OBJ) $(EXAMPLE_LIBS) -lpthread

$(BUILD)/examples/engine_demo: $(BUILD)/$(EXAMPLE_DIR)/engine/engine_demo.o \
		$(LIB_SO)
	$(call say,LDXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS) -lpthread

$(BUILD)/examples/server: $(SERVER_OBJ) $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(SERVER_OBJ) $(EXAMPLE_LIBS)

$(BUILD)/examples/flow/%: $(BUILD)/$(EXAMPLE_DIR)/flow/%.o $(LIB_SO)
	$(call say,LDXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $< -L$(BUILD) -llkdf -lm \
		-Wl,-rpath,'$$ORIGIN/../..'

$(BUILD)/examples/guide/%: $(BUILD)/$(EXAMPLE_DIR)/guide/%.o $(LIB_SO)
	$(call say,LDXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $< -L$(BUILD) -llkdf -lm \
		-Wl,-rpath,'$$ORIGIN/../..'

$(BUILD)/examples/ports/%: $(BUILD)/$(EXAMPLE_DIR)/ports/%.o $(LIB_SO)
	$(call say,LDXX)
	$(Q)mkdir -p $(@D)
	$(Q)$(CXX) $(LDFLAGS) -o $@ $< -L$(BUILD) -llkdf \
		-Wl,-rpath,'$$ORIGIN/../..'

.PHONY: examples
examples: $(EXAMPLES) $(FLOW) ## the programs of Documentation/examples
