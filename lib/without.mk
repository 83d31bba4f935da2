# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# WITHOUT=gate,team builds without these rows of lib/mechanism/rows.h. Objects of
# the library are the same, but for theirs; what is linked of them lies in a folder
# of its own, build/without-gate-team.

WITHOUT ?=
comma := ,
LEFT_OUT_ROWS := $(sort $(subst $(comma), ,$(WITHOUT)))
LIB_BUILD := $(BUILD)
ifneq ($(LEFT_OUT_ROWS),)
WITHOUT_REFUSED := $(shell lib/mechanism/without.sh check $(LEFT_OUT_ROWS))
ifneq ($(WITHOUT_REFUSED),)
$(error $(WITHOUT_REFUSED))
endif
WITHOUT_DIR := without-$(subst $() ,-,$(LEFT_OUT_ROWS))
# make check calls make for a build below this one.
ifeq ($(findstring /$(WITHOUT_DIR)/,$(BUILD)),)
override BUILD := $(BUILD)/$(WITHOUT_DIR)
endif
endif

# Their sources, and the objects that stand in.
WITHOUT_SRC := $(foreach r,$(LEFT_OUT_ROWS),$(wildcard lib/mechanism/$r/*.c))
WITHOUT_OBJ := $(LEFT_OUT_ROWS:%=$(BUILD)/without/%.o)

$(WITHOUT_OBJ:.o=.c): $(BUILD)/without/%.c: lib/mechanism/without.sh
	$(Q)mkdir -p $(@D)
	$(Q)lib/mechanism/without.sh write $* >$@
$(foreach r,$(LEFT_OUT_ROWS),$(eval $(BUILD)/without/$r.c: \
	$(wildcard lib/mechanism/$r/$r.h lib/mechanism/$r/absent.c)))
