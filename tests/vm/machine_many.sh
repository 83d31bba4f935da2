#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# One node with 64 CPUs, of make check-long: the oracle and the soak with 64
# workers, and those programs of tests/api that take the CPUs that there are
# (VM_MANY). All 64 share the CPUs of the host.
set -u
build=${BUILD:-build}
here=tests/vm
if [ -z "${VM_MANY-}" ]; then
	echo "1..0 # SKIP VM_MANY is empty: run it by make check-vm-many"
	exit 0
fi
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
# Its progress would go to the terminal of the machine, among the lines of TAP.
cat >"$work/oracle" <<'EOF'
#!/bin/sh
./oracle --programs 200 --workers 64,16,48 2>told
rc=$?
sed 's/^/# /' told
exit $rc
EOF
printf '#!/bin/sh\nexec ./soak 20 64\n' >"$work/soak"
chmod +x "$work/oracle" "$work/soak"
programs=
for f in $VM_MANY; do
	programs="$programs $f:api/${f##*/}"
done
# shellcheck disable=SC2086
"$here/vm.sh" --kernel "${VM_KERNEL:-6.12}" --nodes 64/4096 --boot 600 \
	--append "lpj=4000000 cpuhp.parallel=0" \
	--timeout "${VM_TIMEOUT:-3000}" --quiet 700 --keep "$build/vm/many" -- \
	'./guest.sh 600 many/* api/test_*' "$here/guest.sh" \
	"$build/tests/oracle/oracle" "$build/tests/stress/soak" \
	"$work/oracle:many/oracle" "$work/soak:many/soak" $programs \
	2>"$work/why"
rc=$?
if [ $rc -eq 3 ]; then
	echo "1..0 # SKIP $(cat "$work/why")"
	exit 0
fi
cat "$work/why" >&2
exit $rc
