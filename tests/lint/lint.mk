# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The rules of the tree as tests. check-lint builds and installs nothing.

LINT_TESTS := tests/lint/lint.sh tests/lint/selftest.sh

.PHONY: check-lint
check-lint: ## layering, style and text of the sources
	$(Q)BUILD=$(BUILD) tests/run.sh tests/lint/lint.sh
