# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# The only user build: one non-recursive make, objects under $(BUILD).
#
#   make            library and tools
#   make run        install what is missing, build, run the main job
#   make check      install what tests need, build, run all tests
#   make help       the other targets
#
# V=1 shows commands; BUILD=dir builds elsewhere; NO_INSTALL=1 forbids
# installing packages; CC=clang builds with clang; CROSS_COMPILE= for another
# machine; WERROR=1 stops at warnings, WERROR=0 never does. What make config prints
# are switches: BPF=0, TOP=1, auto if not told.

VERSION := 0.1.0
SOVERSION := 0
BUILD ?= build
ifneq ($(words $(BUILD)),1)
$(error BUILD='$(BUILD)': the folder has one name without spaces, for make \
	separates names by them)
endif
PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
DESTDIR ?=
# CROSS_COMPILE=aarch64-linux-gnu- builds for another machine.
CROSS_COMPILE ?=
CC ?= cc
tool = $(if $(filter default,$(origin $1)),$(CROSS_COMPILE)$2,$($1))
CC := $(call tool,CC,gcc)
CXX := $(call tool,CXX,g++)
AR := $(call tool,AR,ar)
LD := $(call tool,LD,ld)
OBJCOPY ?= $(CROSS_COMPILE)objcopy
STRIP ?= $(CROSS_COMPILE)strip

V ?= 0
ifeq ($(V),0)
Q := @
# QUIET=1: no line for each file; make run ends in what matters.
say = $(if $(QUIET),@:,@printf '  %-7s %s\n' '$1' '$(patsubst $(BUILD)/%,%,$@)')
else
Q :=
say =
endif

# For the two commands of README.md: as many jobs as there are CPUs, if nobody
# has said how many.
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j$(shell nproc))

# Warnings stop the build in a git checkout only: a user's newer compiler has others.
WERROR ?= $(if $(wildcard .git),1,0)
ERROR := $(if $(filter 1,$(WERROR)),-Werror)
WARN := -Wall -Wextra $(ERROR) -Wshadow -Wstrict-prototypes \
	-Wmissing-prototypes
CFLAGS ?= -O2 -g
# A level that the user's flags name wins, everywhere; glibc warns without -O.
named = $(strip $(foreach f,$1,$(if $(findstring _FORTIFY_SOURCE,$f),$f)))
FORTIFY := $(if $(call named,$(CFLAGS)),,$(or $(call named,$(CPPFLAGS)),$(if \
	$(filter-out -O0,$(filter -O%,$(CFLAGS))),-U_FORTIFY_SOURCE \
	-D_FORTIFY_SOURCE=2)))
# The linker compiles again, and wants to know by how many jobs.
ifneq ($(filter -flto%,$(CFLAGS)),)
override LDFLAGS := $(LDFLAGS) $(filter-out $(LDFLAGS),$(filter -flto%,$(CFLAGS)))
endif
HARDEN := -fstack-protector-strong $(FORTIFY)
CPPFLAGS += -Ilib/include -Ilib -Ikmod/uapi -Ibpf/uapi -D_GNU_SOURCE
LKDF_CFLAGS := -std=c11 $(WARN) $(HARDEN) $(CFLAGS) -fexceptions

# In a call of a function a backslash before it would stay.
HASH := \#

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
.PHONY: all run clean help

include lib/without.mk
include lib/features.mk
include lib/lib.mk
include lib/mpi.mk
include lib/gomp.mk
include bpf/bpf.mk
include tools/tools.mk
include Documentation/examples/examples.mk
include Documentation/examples/tutorial.mk
include tests/tests.mk
include kmod/kmod.mk
include lib/install.mk
include lib/cmake.mk
include tools/packaging/packaging.mk

all: $(LIB_SO) $(LIB_A) $(MALLOC_SO) $(LKDF_BIN) $(EXAMPLES)

# The main job: duplicates in a real directory tree.
DIR ?= /usr/share
run: ## install what is missing, build, find duplicates in DIR=/usr/share
	@echo 'Builds lkdf (3 minutes of CPU time, once), finds equal files in $(DIR) (10 s).'
	@echo 'It installs packages that are missing, as root only, and changes none of the files.'
	$(Q).ci/deps build
	$(Q)$(MAKE) -s $(JOBS) QUIET=1 --no-print-directory all $(BUILD)/examples/dupes
	@echo
	$(Q)tools/native.sh $(BUILD)/examples/dupes $(BUILD)/lkdf
	$(Q)LKDF_TRACE=$(BUILD)/run.lkdf $(BUILD)/examples/dupes $(DIR)
	$(Q)$(BUILD)/lkdf report $(BUILD)/run.lkdf \
		--html $(BUILD)/report.html >$(BUILD)/report.txt
	@echo
	@echo 'What cost most (the whole report: $(BUILD)/report.html):'
	$(Q)tools/report/first.sh $(BUILD)/report.txt
	@echo
	@echo 'More: $(BUILD)/examples/dupes --help, $(BUILD)/lkdf --help,'
	@echo '      $(BUILD)/lkdf doctor, make check, README.md'

.PHONY: demo
demo: ## the tool alone, and its report of Documentation/demo.lkdf
	$(Q)$(MAKE) -s $(JOBS) QUIET=1 --no-print-directory $(LKDF_BIN)
	$(Q)tools/native.sh $(LKDF_BIN)
	$(Q)$(LKDF_BIN) report Documentation/demo.lkdf

.PHONY: demo-recording
demo-recording: $(LKDF_BIN) $(BUILD)/examples/guide/offers ## Documentation/demo.lkdf anew, and README's lines of it
	$(Q)tools/report/demo.sh $(BUILD)

.PHONY: tour
tour: ## where bytes lie, and more to find: what lkdf report says of it
	$(Q)$(MAKE) -s $(JOBS) QUIET=1 --no-print-directory $(LKDF_BIN) \
		$(TOUR_PROGRAMS)
	$(Q)tools/report/tour.sh $(BUILD)

.PHONY: picture
picture: all ## Documentation/report.png, the findings that README shows
	$(Q)tools/report/picture.sh $(BUILD) Documentation/report.png "" \
		900,345 'What costs most'

.PHONY: pictures
pictures: $(LKDF_BIN) $(TOUR_PROGRAMS) ## the guides' pictures, from programs in a machine of four nodes
	$(Q)tools/report/pictures.sh $(BUILD) Documentation

clean:
	$(Q)rm -rf $(BUILD)

help:
	@sed -n '3,13s/^# \{0,1\}//p' Makefile
	@echo 'More targets:'
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1\t\2/p' \
		Makefile */*.mk */*/*.mk | expand -t 24

-include $(foreach b,$(sort $(BUILD) $(LIB_BUILD)),$(wildcard $b/*/*.d \
	$b/*/*/*.d $b/*/*/*/*.d $b/*/*/*/*/*.d))
