# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What of lib no test runs: gcc counts lines in a build of its own.

COV := $(BUILD)/cov
# The library counts, its tests do not.
COV_ARGS = CC=gcc BUILD=$(COV) CFLAGS='-O1 -g --coverage -fprofile-update=atomic' \
	LDFLAGS=--coverage TEST_CFLAGS='-Og -fno-profile-arcs -fno-test-coverage' \
	WERROR=0
# A folder of lib, or a file.
OF ?= lib

.PHONY: coverage check-counted
coverage: ## what of OF=lib/ROOM the tests of NAME= do not run; without NAME all
	$(Q)if [ -d $(COV) ]; then find $(COV) -name '*.gcda' -delete; fi
	$(Q)$(MAKE) $(JOBS) --no-print-directory $(COV_ARGS) check-counted || \
		echo '# some tests have failed'
	$(Q)rm -f a--.gcno # of what make compiles from a pipe, to ask what gcc can
	$(Q)BUILD=$(COV) tests/coverage/coverage.py $(OF)

# Tests that run the tool want NAME= to be empty, or the tool in build/cov.
COUNTED = $(if $(NAME),$(filter $(UNIT_TESTS) $(API_TESTS),$(NAMED)), \
	$(UNIT_TESTS) $(API_TESTS))
check-counted: $(COUNTED) $(if $(NAME),,all)
	$(Q)BUILD=$(BUILD) tests/run.sh $(COUNTED)
