#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# The programs of the tutorial and of the page about data compile without a
# warning and print what their first comment says: with all workers, with one,
# and with a trace. The pages show code that is in them; the tutorial's own
# programs are taken from its page.
# shellcheck source=tests/tools/tap.sh
. "$(dirname "$0")/tap.sh"
# shellcheck source=tests/tools/example.sh
. tests/tools/example.sh

for f in Documentation/examples/tutorial/*.c \
	Documentation/examples/tutorial/*.cc Documentation/examples/data/*.c; do
	as_it_says "$f"
done
page_programs Documentation/tutorial.rst 35 35 LKDF_TRACE= LKDF_WORKERS=1 \
	LKDF_WORKERS=4
[ "$programs" -eq 16 ]
ok $? "the tutorial has sixteen programs"
if command -v python3 >/dev/null; then
	quotes Documentation/first-graph.rst Documentation/examples
	quotes Documentation/data.rst Documentation/examples/data
	quotes Documentation/loops.rst Documentation/examples/tutorial
	quotes Documentation/control-flow.rst Documentation/examples
	quotes Documentation/ports.rst Documentation/examples
else
	skip "pages show code that their programs have" "no python3"
fi
echo "1..$nr"
[ "$failed" -eq 0 ]
