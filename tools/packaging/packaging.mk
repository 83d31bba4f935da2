# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# What leaves the tree: HTML, a tarball, packages of Debian. Each is made in a copy
# below $(BUILD), so that the tree stays as it is.

.PHONY: html dist deb check-deb check-walk check-roots
SPHINX ?= sphinx-build
HTML_SRC := $(BUILD)/html.src
html: ## all pages and the headers' comments, with search, to build/html
	$(Q)command -v $(SPHINX) >/dev/null || { echo \
		'no $(SPHINX): apt-get install python3-sphinx' >&2; exit 1; }
	$(Q)rm -rf $(HTML_SRC) $(BUILD)/html
	$(Q)mkdir -p $(HTML_SRC)/internals
	$(Q)cp $(wildcard $(addprefix Documentation/,*.rst *.png *.svg)) $(HTML_SRC)
	$(Q)cp Documentation/internals/*.rst $(HTML_SRC)/internals
	$(Q)PYTHONDONTWRITEBYTECODE=1 $(SPHINX) -c Documentation -b html -W \
		--keep-going -q -E -d $(BUILD)/html.trees $(HTML_SRC) $(BUILD)/html
	$(Q)rm -f $(BUILD)/html/.buildinfo
	@echo 'Pages: $(BUILD)/html/index.html'

# The time of the last commit is that of each file, the order that of the alphabet.
DIST := lkdf-$(VERSION)
SOURCE_DATE_EPOCH ?= $(shell git log -1 --format=%ct 2>/dev/null || \
	stat -c %Y README.md)
dist: ## the sources as build/lkdf-VERSION.tar.gz, the same bytes each time
	$(Q)mkdir -p $(BUILD)
	$(Q)tests/lint/files.sh | tar -c --sort=name --mtime=@$(SOURCE_DATE_EPOCH) \
		--owner=0 --group=0 --numeric-owner --mode=u+w,go=rX --no-recursion \
		--transform='s|^|$(DIST)/|' -T - | gzip -9n >$(BUILD)/$(DIST).tar.gz
	@echo '$(BUILD)/$(DIST).tar.gz'

# debian/ lies at the top of the copy only.
DEB := $(BUILD)/deb
DEB_ARGS ?= -b
deb: dist ## packages of Debian, to build/deb
	$(Q)command -v dpkg-buildpackage >/dev/null || { echo \
		'no dpkg-buildpackage: .ci/deps more' >&2; exit 1; }
	$(Q)rm -rf $(DEB) && mkdir -p $(DEB)
	$(Q)cp $(BUILD)/$(DIST).tar.gz $(DEB)/lkdf_$(VERSION).orig.tar.gz
	$(Q)tar -C $(DEB) -xzf $(BUILD)/$(DIST).tar.gz
	$(Q)cp -r $(DEB)/$(DIST)/tools/packaging/debian $(DEB)/$(DIST)/debian
	$(Q)cd $(DEB)/$(DIST) && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL -u BUILD \
		-u MAKEOVERRIDES -u CC -u WERROR dpkg-buildpackage -us -uc $(DEB_ARGS) \
		$(filter -j%,$(MAKEFLAGS)) >../build.log 2>&1 || \
		{ tail -n 30 ../build.log >&2; exit 1; }
	@ls $(DEB)/*.deb

# Twice, in two folders: the bytes have to be the same.
check-deb: deb $(LIB_SO) ## packages: lintian, a clean root, the same bytes twice, the ABI, HTML
	$(Q)$(MAKE) --no-print-directory DEB=$(BUILD)/deb.again deb
	$(Q)printf '#!/bin/sh\nAGAIN=%s exec tests/packaging/test_deb.sh %s\n' \
		$(BUILD)/deb.again $(DEB) >$(BUILD)/test_deb.sh
	$(Q)chmod +x $(BUILD)/test_deb.sh
	$(Q)BUILD=$(BUILD) tests/run.sh $(BUILD)/test_deb.sh \
		tests/packaging/test_abi.sh tests/packaging/test_html.sh

check-walk: dist ## README's commands in a clean root, from the sources to an own report
	$(Q)printf '#!/bin/sh\nexec tests/packaging/test_walk.sh %s\n' \
		$(BUILD)/$(DIST).tar.gz >$(BUILD)/test_walk.sh
	$(Q)chmod +x $(BUILD)/test_walk.sh
	$(Q)BUILD=$(BUILD) tests/run.sh $(BUILD)/test_walk.sh

# Rows of tests/packaging/test_roots.sh, or all of them.
ROOT =
check-roots: dist ## clean roots of other releases and compilers, ROOT=trixie: one row
	$(Q).ci/deps roots || :
	$(Q)rm -rf $(BUILD)/check_roots && mkdir -p $(BUILD)/check_roots
	$(Q)for row in $(or $(ROOT),$$(tests/packaging/test_roots.sh)); do \
		printf '#!/bin/sh\nexec tests/packaging/test_roots.sh %s %s\n' \
			$(BUILD)/$(DIST).tar.gz $$row \
			>$(BUILD)/check_roots/$$row.sh; done
	$(Q)chmod +x $(BUILD)/check_roots/*.sh
	$(Q)BUILD=$(BUILD) tests/run.sh $(if $(ROOT),$(ROOT:%=$(BUILD)/check_roots/%.sh),$(BUILD)/check_roots/*.sh)
