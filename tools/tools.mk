# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# One binary, lkdf; public API only.

# Shapes, floor and plans are shared with tests/bench.
TOOLS_SRC := $(wildcard tools/*.c tools/*/*.c) $(addprefix tests/bench/,shapes.c \
	floor.c lkdf_graph.c plan.c lkdf_plan.c work.c)
# The page of lkdf report, as a C file.
PAGE_C := $(BUILD)/tool/report_page.c
# What lkdf completion prints, as a C file.
COMPLETION := tools/main/completion.bash tools/main/completion.zsh
COMPLETION_C := $(BUILD)/tool/completion_scripts.c
TOOLS_OBJ := $(TOOLS_SRC:%.c=$(BUILD)/tool/%.o) $(PAGE_C:.c=.o) \
	$(COMPLETION_C:.c=.o)
LKDF_BIN := $(BUILD)/lkdf
# The tool finds the library that it was built with, or installed with.
RPATH ?= -Wl,-rpath,'$$ORIGIN:$$ORIGIN/../lib'
# Contestants are compiled alike: -O2, no hardening, no -march.
BENCH_CFLAGS := -std=c11 $(WARN) -O2 -g $(filter -ffile-prefix-map=%,$(CFLAGS))
BENCH_CPPFLAGS := -I. -Itools -Ilib/include -Ibpf/uapi -D_GNU_SOURCE

$(addprefix $(BUILD)/tool/,$(addprefix tools/probe/,probe.o load.o cost.o) \
	tests/bench/suites/policy_probe.o): \
	BENCH_CPPFLAGS += $(BPF_CPPFLAGS)
$(eval $(call stamp,$(STAMPS)/bpf,$(subst $(BUILD)/,,$(BPF_CPPFLAGS))))
$(addprefix $(BUILD)/tool/,$(addprefix tools/probe/,probe.o load.o cost.o) \
	tests/bench/suites/policy_probe.o): $(STAMPS)/bpf
$(BUILD)/tool/tools/probe/load.o: $(if $(HAVE_BPF),$(BPF_SKEL))

# The screen of lkdf top
CURSES_LIBS := $(if $(HAVE_TOP),-lncursesw)
$(BUILD)/tool/tools/top/screen.o: BENCH_CPPFLAGS += $(if $(HAVE_TOP),-DHAVE_CURSES)
$(eval $(call stamp,$(STAMPS)/top,$(HAVE_TOP)))
$(BUILD)/tool/tools/top/screen.o: $(STAMPS)/top
# What lkdf doctor --build tells
$(BUILD)/tool/tools/doctor/build.o: BENCH_CPPFLAGS += \
	$(foreach f,$(FEATURES),-DBUILT_$f=$(or $(HAVE_$f),0)) \
	-DBUILT_WITHOUT='"$(LEFT_OUT_ROWS)"'
$(BUILD)/tool/tools/doctor/build.o: $(STAMPS)/all

$(eval $(call stamp,$(STAMPS)/tool,$(CC) $(BENCH_CPPFLAGS) $(VERSION) $(LKDF_CFLAGS)))
$(BUILD)/tool/tools/%.o: tools/%.c $(STAMPS)/tool
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CPPFLAGS) -DLKDF_VERSION='"$(VERSION)"' \
		$(LKDF_CFLAGS) -MMD -MP -c -o $@ $<

$(PAGE_C): tools/report/embed.sh $(addprefix tools/report/,page.html \
		page.css page.js tables.js timeline.js input.js)
	$(call say,EMBED)
	$(Q)mkdir -p $(@D)
	$(Q)tools/report/embed.sh >$@

$(COMPLETION_C): $(COMPLETION)
	$(call say,EMBED)
	$(Q)mkdir -p $(@D)
	$(Q)for f in $(COMPLETION); do \
		echo "extern const char completion_$${f##*.}[];" && \
		echo "const char completion_$${f##*.}[] =" && \
		sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $$f && \
		echo ';' || exit 1; \
	done >$@

$(PAGE_C:.c=.o) $(COMPLETION_C:.c=.o): %.o: %.c
	$(call say,CC)
	$(Q)$(CC) $(BENCH_CPPFLAGS) $(LKDF_CFLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/tool/tests/%.o: tests/%.c
	$(call say,CC)
	$(Q)mkdir -p $(@D)
	$(Q)$(CC) $(BENCH_CPPFLAGS) $(BENCH_CFLAGS) -MMD -MP -c -o $@ $<

$(LKDF_BIN): $(TOOLS_OBJ) $(LIB_SO)
	$(call say,LD)
	$(Q)$(CC) $(LDFLAGS) -o $@ $(TOOLS_OBJ) -L$(BUILD) -llkdf -lm \
		-lpthread $(BPF_LIBS) $(CURSES_LIBS) \
		$(RPATH)

.PHONY: tools man
tools: $(LKDF_BIN)

# Section 1, made by the tool; a test holds the names against its verbs.
MAN1 := $(patsubst %,$(BUILD)/man/%.1,lkdf $(addprefix lkdf-,topo doctor device \
	bench run check stat top why trace trace-check trace-convert trace-diff \
	trace-record report try pages probe futex completion))
# "trace check" of lkdf-trace-check.1
words_of_page = $(subst -, ,$(patsubst lkdf%,%,$(basename $(@F))))

$(MAN1): $(LKDF_BIN)
	$(call say,MAN)
	$(Q)mkdir -p $(@D)
	$(Q)tools/native.sh $(LKDF_BIN)
	$(Q)$(LKDF_BIN) help --man $(words_of_page) >$@

# Functions by header, with the first lines of their comments; and a page for
# each function that the library exports, all written at once.
MAN3_INDEX := $(BUILD)/man/lkdf.3
MAN3_PAGES := $(patsubst %,$(BUILD)/man/%.3,$(sort \
	$(shell sed -n 's/^\t\t\(lkdf_[a-z0-9_]*\);.*/\1/p' lib/lkdf.map)))
MAN3 := $(MAN3_INDEX) $(MAN3_PAGES)
$(MAN3_INDEX): lib/man3.sh lib/man3_pages.sh lib/lkdf.map \
		$(sort $(wildcard lib/include/lkdf/*.h))
	$(call say,MAN)
	$(Q)mkdir -p $(@D)
	$(Q)lib/man3_pages.sh $(VERSION) $(@D) $(filter %.h,$^)
	$(Q)lib/man3.sh $(VERSION) $(filter %.h,$^) >$@

$(MAN3_PAGES): $(MAN3_INDEX)

man: $(MAN1) $(MAN3) ## manual pages of tool and library, to build/man

all: bpf $(LKDF_BIN)

# The recipe is in tests/bench/bench.mk.
bench: ## lkdf against floor and peers, bench-graph ..; BENCH_ARGS=--quick
