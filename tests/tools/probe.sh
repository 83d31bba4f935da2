# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh
# For scripts that start lkdf probe, after tap.sh: as probe.h is for programs.
# shellcheck disable=SC2154

# All that it needs is there: then it has to load. CAP_BPF, CAP_PERFMON and
# CAP_SYS_ADMIN count in the first user namespace only.
probe_must_load() {
	caps=$(sed -n 's/^CapEff:[[:space:]]*//p' /proc/self/status)
	need=$((1 << 39 | 1 << 38 | 1 << 21))
	[ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] &&
		grep -q 4294967295 /proc/self/uid_map &&
		[ $((0x$caps & need)) -eq $need ] &&
		grep -q '^Seccomp:[[:space:]]*0' /proc/self/status &&
		! grep -q '\[confidentiality]' \
			/sys/kernel/security/lockdown 2>/dev/null &&
		! grep -q 'built without BPF' "$dir/log"
}

# probe_absent FACT: it did not start, $dir/log has why. Skipped where something
# is missing, else it has failed; this was the last of the script.
probe_absent() {
	if probe_must_load; then
		ok 1 "$1: the probe loads where nothing is missing"
	else
		skip "$1" "$(head -n 1 "$dir/log")"
	fi
	echo "1..$nr"
	exit "$failed"
}

# Probes of tests that were killed go: those of a folder that names a process
# which is gone. This one's are named so.
probe_sweep() {
	awk '$1 == "lkdf" && $3 == "bpf" { print $2 }' /proc/self/mounts |
		while read -r at; do
			for above in "${at%/*}" "${at%/*/*}"; do
				owner=$(cat "$above/probe.pid" 2>/dev/null) ||
					continue
				! kill -0 "$owner" 2>/dev/null || continue
				"$build/lkdf" probe stop --dir "$at" >/dev/null
				rm -rf "$above"
			done
		done
}
echo $$ >"$dir/probe.pid"
probe_sweep
