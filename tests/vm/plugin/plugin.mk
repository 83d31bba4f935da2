# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The access counter, the programs that prove it in a machine, and its judge.
# Contestants' flags: a sanitizer would count its own words.

COUNTER_DIR := $(BUILD)/tests/vm/plugin
COUNTER_PROGRAMS := $(addprefix $(COUNTER_DIR)/,counter.so pair facts judge)
COUNTER_OBJ := $(patsubst tests/%.c,$(BUILD)/tests/%.o,\
	$(wildcard tests/vm/plugin/*.c))

$(COUNTER_OBJ): $(BUILD)/tests/%.o: tests/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CPPFLAGS) $(BENCH_CFLAGS) -fPIC -fvisibility=hidden \
		-MMD -MP -c -o $@ $<

$(COUNTER_DIR)/counter.so: $(addprefix $(COUNTER_DIR)/,counter.o cells.o \
		nodemap.o)
	$(call say,LD)
	$(Q)$(CC) -shared -o $@ $^ -lpthread

$(COUNTER_DIR)/pair $(COUNTER_DIR)/facts: $(COUNTER_DIR)/%: \
		$(COUNTER_DIR)/%.o $(COUNTER_DIR)/guest.o
	$(call say,LD)
	$(Q)$(CC) -o $@ $^ -lpthread

$(COUNTER_DIR)/judge: $(addprefix $(COUNTER_DIR)/,judge.o sections.o)
	$(call say,LD)
	$(Q)$(CC) -o $@ $^

COUNTER_TESTS := tests/vm/plugin/test_counter.sh tests/vm/plugin/test_uneven.sh
VM_MATRIX += $(COUNTER_TESTS)
vm-programs: $(COUNTER_PROGRAMS)

.PHONY: check-counter
check-counter: $(COUNTER_PROGRAMS) ## the access counter alone, half a minute
	$(Q)BUILD=$(BUILD) tests/run.sh $(COUNTER_TESTS)
