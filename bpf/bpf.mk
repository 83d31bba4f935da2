# SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
# The BPF programs as one object and its skeleton, for the tool only.

# The file that defines the maps is linked first.
BPF_SRC := bpf/slots.bpf.c $(filter-out bpf/slots.%,$(wildcard bpf/*.bpf.c))
BPF_OBJ := $(BPF_SRC:%.c=$(BUILD)/%.o)
BPF_ALL := $(BUILD)/bpf/lkdf_probe.bpf.o
BPF_SKEL := $(BUILD)/bpf/lkdf_probe.skel.h
BPF_MACHINE := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(MACHINE)))
# Debian has headers of the machine in a folder of their own; clang 17 and later do not
# print its name.
BPF_CFLAGS := -g -O2 -Wall $(ERROR) -target bpf -mcpu=v3 \
	-D__TARGET_ARCH_$(BPF_MACHINE) -Ibpf/uapi -ffile-prefix-map=$(CURDIR)=. \
	-idirafter /usr/include/$(MACHINE)-linux-gnu
# For the tool.
BPF_LIBS := $(if $(HAVE_BPF),-lbpf -lelf -lz)
BPF_CPPFLAGS := $(if $(HAVE_BPF),-DLKDF_HAVE_BPF -I$(BUILD)/bpf)

$(BUILD)/bpf/%.bpf.o: bpf/%.bpf.c
	$(call say,BPF)
	$(Q)mkdir -p $(@D)
	$(Q)$(BPF_CLANG) $(BPF_CFLAGS) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(BPF_ALL): $(BPF_OBJ)
	$(call say,BPFLD)
	$(Q)$(BPFTOOL) gen object $@ $(BPF_OBJ)

$(BPF_SKEL): $(BPF_ALL)
	$(call say,SKEL)
	$(Q)$(BPFTOOL) gen skeleton $< name lkdf_probe >$@.new
	$(Q)mv $@.new $@

.PHONY: bpf install-probe
bpf: $(if $(HAVE_BPF),$(BPF_SKEL),features-absent) ## the BPF programs of lkdf probe

# What is to be done then stands in Documentation/signals.rst.
install-probe: ## unit, group and directory of lkdf probe
	$(Q)install -d -m 755 $(DESTDIR)/usr/lib/systemd/system
	$(Q)sed 's|@BINDIR@|$(BINDIR)|' bpf/etc/lkdf-probe.service \
		>$(DESTDIR)/usr/lib/systemd/system/lkdf-probe.service
	$(Q)chmod 644 $(DESTDIR)/usr/lib/systemd/system/lkdf-probe.service
	$(Q)install -D -m 644 bpf/etc/tmpfiles.conf \
		$(DESTDIR)/usr/lib/tmpfiles.d/lkdf-probe.conf
	$(Q)install -D -m 644 kmod/etc/sysusers.conf \
		$(DESTDIR)/usr/lib/sysusers.d/lkdf.conf
