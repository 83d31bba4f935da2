#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# In a machine, beside the tool and its examples: make tour runs a program whose
# bytes lie on one node where there are several nodes, and says so elsewhere.
set -u
if [ -z "${LKDF_VM_NODES-}" ]; then
	echo '1..0 # SKIP only in a machine of tests/vm/vm.sh'
	exit 0
fi
out=/tmp/tour
nr=0
failed=0

ok() {
	nr=$((nr + 1))
	[ "$1" -eq 0 ] && echo "ok $nr - $2" && return
	failed=1
	echo "not ok $nr - $2"
	sed 's/^/# /' "$out.log"
}

# has NAME PATTERN: the text of that report
has() {
	grep -q -e "$2" "$out/$1.txt" && [ -s "$out/$1.html" ]
}

sh tools/report/tour.sh . $out >$out.log 2>&1
ok $? 'the tour comes to its end'
case $LKDF_VM_NODES in
*,*)
	has remote '^  add_up  *640 ' && has remote 'come from another node'
	ok $? 'a program is run whose bytes lie on one node'
	grep -q '^  used by .*bytes of node 1' $out.log
	ok $? 'who takes bytes of which node is shown'
	has spread '^  add_up  *640 '
	ok $? 'and the same with bytes beside its tasks'
	! grep -q 'has one node' $out.log
	ok $? 'nothing is said of one node'
	;;
*)
	grep -q 'This machine has one node' $out.log
	ok $? 'that there is one node is said'
	;;
esac
has cholesky '^  gemm ' && has lock '^  node '
ok $? 'two more programs are run'
rm -rf $out $out.log
echo "1..$nr"
exit $failed
