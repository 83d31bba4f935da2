# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Random programs against a sequential interpreter; public headers only.

ORACLE_SRC := $(wildcard tests/oracle/*.c)
ORACLE_TESTS := $(BUILD)/tests/oracle/oracle

$(BUILD)/tests/oracle/oracle: $(ORACLE_SRC) $(wildcard tests/oracle/*.h) \
		$(LIB_SO)
	$(call say,CCLD)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. -Ilib/include -D_GNU_SOURCE $(LKDF_CFLAGS) -o $@ \
		$(ORACLE_SRC) $(LDFLAGS) -L$(BUILD) -llkdf -lpthread \
		-Wl,-rpath,'$$ORIGIN/../..'
