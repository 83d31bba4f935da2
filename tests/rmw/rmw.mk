# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Locked operations by place: a library of its own counts them.

RMW_BUILD := $(BUILD)/rmw
RMW_SHAPES := $(RMW_BUILD)/rmw_shapes
RMW_TEST := $(BUILD)/tests/rmw/rmw

# Made by the inner make, whose BUILD is the outer one's RMW_BUILD.
$(BUILD)/rmw_shapes: $(addprefix $(BUILD)/rmw/,shapes.o count.o) \
		$(addprefix $(BUILD)/tool/tests/bench/,shapes.o work.o plan.o \
		lkdf_graph.o lkdf_plan.o control.o lkdf_control.o lkdf_feed.o) \
		$(LIB_INTERNAL)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(filter-out $(LIB_INTERNAL),$^) \
		$(LIB_INTERNAL) $(LIB_LIBS)

$(BUILD)/rmw/%.o: tests/rmw/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) -I. $(CPPFLAGS) $(LKDF_CFLAGS) -MMD -MP -c -o $@ $<

.PHONY: rmw rmw-table rmw-build
rmw-build:
	$(Q)$(MAKE) $(JOBS) --no-print-directory CC=gcc BUILD=$(RMW_BUILD) \
		CFLAGS='-O1 -DLKDF_RMW -Itests/rmw' LDFLAGS= \
		$(RMW_SHAPES)

rmw: rmw-build ## locked operations a task, by place, of the shapes of tests/rmw
	$(Q)python3 tests/rmw/rmw.py $(RMW_SHAPES)

rmw-table: rmw-build ## the same as the table that the test compares with
	$(Q)python3 tests/rmw/rmw.py --table $(RMW_SHAPES) >$(BUILD)/rmw.txt
	$(Q)mv $(BUILD)/rmw.txt tests/rmw/table.txt

# A program without arguments, as tests/run.sh wants it.
$(RMW_TEST): rmw-build tests/rmw/rmw.py
	$(Q)mkdir -p $(@D)
	$(Q)printf '#!/bin/sh\nexec python3 tests/rmw/rmw.py --test %s\n' \
		$(RMW_SHAPES) >$@
	$(Q)chmod +x $@
