# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Examples: programs a user may copy. They see the public headers only and
# link the shared library.

EXAMPLE_DIR := Documentation/examples
EXAMPLES := $(BUILD)/examples/hello $(BUILD)/examples/dupes
DUPES_OBJ := $(patsubst %.c,$(BUILD)/%.o,$(wildcard $(EXAMPLE_DIR)/dupes/*.c))
EXAMPLE_LIBS := -L$(BUILD) -llkdf -Wl,-rpath,'$$ORIGIN/..'

$(BUILD)/$(EXAMPLE_DIR)/%.o: $(EXAMPLE_DIR)/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -MMD -MP \
		-c -o $@ $<

$(BUILD)/examples/hello: $(BUILD)/$(EXAMPLE_DIR)/hello.o $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $< $(EXAMPLE_LIBS)

$(BUILD)/examples/dupes: $(DUPES_OBJ) $(LIB_SO)
	$(call say,LD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(DUPES_OBJ) $(EXAMPLE_LIBS) \
		-lxxhash -lpthread

.PHONY: examples
examples: $(EXAMPLES) ## the programs of Documentation/examples
