# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What is built in where the machine has it. A switch is auto, as it is if nobody
# sets it; 1, with which make stops where something is missing; or 0, left out.
# Packages are built with 1, so that no build is less by accident.

FEATURES := URING SDT BPF TOP XXHASH MPI FRAME_POINTERS
# Nobody misses it who has not asked for it.
FRAME_POINTERS ?= 0
# In words, and the packages of Debian
is_URING := operations on rings of io_uring
is_SDT := probes for bpftrace, perf and gdb
is_BPF := lkdf probe and futex, by BPF programs
is_TOP := the screen of lkdf top
is_XXHASH := examples/dupes
is_MPI := liblkdf-mpi, requests of MPI as events
is_FRAME_POINTERS := stacks of callers go through the library
in_URING := liburing-dev 2.3
in_SDT := systemtap-sdt-dev
in_BPF := clang bpftool libbpf-dev
in_TOP := libncurses-dev
in_XXHASH := libxxhash-dev
in_MPI := libopenmpi-dev or libmpich-dev
in_FRAME_POINTERS := a compiler with -fno-omit-frame-pointer

# Rings need liburing 2.3, whose words these are.
try_URING = echo \
	'struct io_uring_sync_cancel_reg r; void *f = io_uring_buf_ring_add;' | \
	$(CC) $(CFLAGS) -D_GNU_SOURCE -include liburing.h -x c -fsyntax-only -
try_SDT = echo '$(HASH)include <sys/sdt.h>' | $(CC) $(CFLAGS) -x c -fsyntax-only -
try_BPF = $(BPF_CLANG) --print-targets | grep -q bpf && $(BPFTOOL) version && \
	echo '$(HASH)include <bpf/libbpf.h>' | $(CC) $(CFLAGS) -E -
try_TOP = echo 'int main(void) { return !newterm(0, 0, 0); }' | \
	$(CC) $(CFLAGS) -D_GNU_SOURCE -include curses.h -x c - -lncursesw \
	-o /dev/null
try_XXHASH = echo '$(HASH)include <xxhash.h>' | $(CC) $(CFLAGS) -E -
try_MPI = echo '$(HASH)include <mpi.h>' | $(CC) $(CFLAGS) \
	$$(pkg-config --cflags mpi-c) -E -

FRAME_POINTER_FLAGS := -fno-omit-frame-pointer -fno-optimize-sibling-calls
try_FRAME_POINTERS = $(CC) $(FRAME_POINTER_FLAGS) -x c -fsyntax-only /dev/null

# BPF programs are made by these, whatever CC is.
BPF_CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool /usr/bin/bpftool) bpftool)

works = $(shell { $(try_$1); } >/dev/null 2>&1 && echo 1)
# $(call has,NAME): 1 or nothing. A part that is wanted is looked for, too.
has = $(if $(filter-out auto 0 1,$($1)),$(error $1=$($1): a switch is auto, \
	1 or 0))$(if $(filter-out 0,$($1)),$(or $(call works,$1),$(if $(filter \
	1,$($1)),$(error $1=1: it needs $(in_$1)))))
define switch
$1 ?= auto
HAVE_$1 := $$(call has,$1)
endef
$(foreach f,$(FEATURES),$(eval $(call switch,$f)))
LEFT_OUT_FEATURES := $(strip $(foreach f,$(filter-out FRAME_POINTERS,$(FEATURES)),$(if $(HAVE_$f),,$f)))

# The machine that programs are built for. Where it is not this one, nothing that
# was built is called to write pages of the manual.
MACHINE := $(firstword $(subst -, ,$(shell \
	$(CC) -dumpmachine 2>/dev/null)))
IS_NATIVE := $(filter $(MACHINE),$(shell uname -m))

# $(eval $(call stamp,FILE,WORDS)): a file of these words, written when it has others.
# What depends on it is built again then, and only then.
.PHONY: config config-anew features-absent
same = $(and $(findstring <$1>,<$2>),$(findstring <$2>,<$1>))
define stamp
$1: $(if $(call same,$(strip $(file <$1)),$(strip $2)),,config-anew)
	$$(Q)mkdir -p $$(@D)
	$$(Q)printf '%s\n' '$(subst ','\'',$(strip $2))' >$$@
endef
STAMPS := $(BUILD)/flags
$(eval $(call stamp,$(STAMPS)/all,$(foreach f,$(FEATURES),$f=$(or $(HAVE_$f),0))))

config: ## what is built in, what is left out, and what that lacks
	@echo '# lkdf $(VERSION) for $(MACHINE) by $(CC)'
	@$(foreach f,$(FEATURES),printf '%-17s# %s\n' '$f=$(or \
		$(HAVE_$f),0)' '$(is_$f)$(if $(HAVE_$f),,: $(if $(filter \
		0,$($f)),left out as told,it needs $(in_$f)))';)
	$(if $(LEFT_OUT_ROWS),@echo '# without the mechanisms $(LEFT_OUT_ROWS)')

features-absent:
	@$(foreach f,$(LEFT_OUT_FEATURES),printf '  absent  %s\n' \
		'$(is_$f): it needs $(in_$f)';)

ifneq ($(LEFT_OUT_FEATURES),)
all: features-absent
endif
