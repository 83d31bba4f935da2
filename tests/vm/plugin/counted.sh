#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#
# counted.sh NAME COMMAND [PATH[:NAME]...]: a machine under the access counter;
# four nodes with two CPUs and 1 GiB each, or those of NODES in the environment
# (see vm.sh). The pairs and facts are run first, then COMMAND; $BUILD/vm/NAME/report is what was counted, output.log
# what was said. Pages stay where they are: no automatic balancing, no huge
# pages. Exit status of vm.sh: 3 no QEMU or kernel.
set -u
build=${BUILD:-build}
plugin=$build/tests/vm/plugin
name=$1
command=$2
shift 2
mkdir -p "$build/vm/$name" || exit 1
report=$(cd "$build/vm/$name" && pwd)/report
rm -f "$report"
# One entry: a comma would end the name.
case $report in
*,*)
	echo "$report: no commas in this path, please" >&2
	exit 2
	;;
esac
distances=10,16,22,22/16,10,22,22/22,22,10,16/22,22,16,10
tests/vm/vm.sh --nodes "${NODES:-2/1024,2/1024,2/1024,2/1024}" \
	--distances "$distances" \
	--plugin "file=$plugin/counter.so,out=$report" \
	--timeout "${VM_TIMEOUT:-120}" --keep "$build/vm/$name" -- \
	"echo 0 >/proc/sys/kernel/numa_balancing
echo never >/sys/kernel/mm/transparent_hugepage/enabled
./pair && ./facts && { $command; }" "$plugin/pair" "$plugin/facts" "$@"
