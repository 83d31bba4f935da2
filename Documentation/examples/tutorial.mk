# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of Documentation/tutorial.rst. tests/tools/test_tutorial.sh
# compiles them too, as a user would, and compares what they print.

TUTORIAL := $(patsubst Documentation/examples/tutorial/%.c,\
	$(BUILD)/examples/tutorial/%,\
	$(wildcard Documentation/examples/tutorial/*.c))

$(BUILD)/examples/tutorial/%: Documentation/examples/tutorial/%.c $(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -MMD -MP -o $@ \
		$< $(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'

.PHONY: tutorial
tutorial: $(TUTORIAL) ## the programs of Documentation/tutorial.rst
