#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# Would the oracle with devices notice? The lines behind the marks "order: NAME"
# keep apart what must not meet: each of them is changed in turn.
set -u
top=$BUILD/device_mutants
oracle=tests/oracle/devices/oracle
# It has as many threads as queues; a slow machine is no bug.
watch=10
# shellcheck source=tests/oracle/plant.sh
. tests/oracle/plant.sh

# mutant NAME FILE SED: of the line behind the mark, or the lines.
mutant() {
	plant "$1" "$2" "/order: $1[ :]/{$3}" "$2"
}

# Copies that stay, and their versions.
f=lib/device/copies.c
mutant copies.pinned $f 'n;s/!c->nr_pins && //'
mutant copies.version $f 'n;s/= .*/= c->version != 0;/'
mutant copies.dirty $f 'n;s/= .*/= false;/'
mutant copies.since $f 'n;s/c->version >= [^&]*&& //'
f=lib/device/offhost.c
mutant offhost.whole $f 'n;s/want/if (0) want/'
mutant offhost.parts $f 'n;s/!part/0/'
mutant offhost.of_whole $f 'n;s/part/0/'
mutant offhost.of_parts $f 'n;s/!part/0/'
mutant offhost.since $f 'n;s/= .*/= 0;/'
mutant offhost.version $f 'n;s/++//'
f=lib/data/offhost.c
mutant data.written $f 'n;s/writes/0/'
mutant data.waits $f 'n;s/return c/return 0/'
f=lib/device/request.c
mutant request.upload $f 'n;s/break/__attribute__((fallthrough))/'
f=lib/device/request_give.c
mutant request.fetch $f 'n;s/ ||.*is_through)/)/'
f=lib/offload/kernel_bytes.c
mutant kernel.waits $f 'n;s/NULL/r->req.device/'
mutant kernel.whole $f 'n;s/o->mode & LKDF_WRITE || //'
mutant kernel.written $f 'n;s/o->copies/0/'
f=lib/run/values.c
mutant run.waits $f 'n;s/return/return 0 \&\&/'
mutant run.written $f 'n;s/if (/if (0 \&\& /'

# What kernels of graphs leave there.
f=lib/run/offhost_run.c
mutant task.waits $f 'n;s/if (/if (0 \&\& /'
mutant task.written $f 'n;s/if (/if (0 \&\& /'

# Kernels of graphs that are given ahead.
f=lib/device/region_memory.c
mutant region.filled $f 'n;s/= .*/= 0;/'
mutant region.users $f 'n;s/--m->nr_users/--m->nr_users \&\& 0/'
mutant region.published $f 'n;n;s/copies_publish.*/(void)c;/'
f=lib/device/region.c
mutant region.failed $f 'n;s/g->nr_open ||//'
mutant region.launch $f 'n;s/ && !r->nr_ops//;n;s/region_bring_again(r)/0/'
mutant region.finish $f 'n;s/ && r->has_run//'

# The same on POCL, and what OpenCL itself is asked for.
options='--devices 2 --programs 500'
if "$BUILD/$oracle" --devices 2 --programs 1 | grep -q '# SKIP'; then
	say 0 "programs on OpenCL # SKIP no POCL"
else
	f=lib/device/copies.c
	mutant copies.version $f 'n;s/= .*/= c->version != 0;/'
	mutant copies.dirty $f 'n;s/= .*/= false;/'
	f=lib/device/request_give.c
	mutant request.fetch $f 'n;s/ ||.*is_through)/)/'
	f=lib/opencl/queue.c
	plant opencl.bytes $f 's/t->offset, t->bytes,/t->offset, t->bytes - 8,/' $f
fi
echo "1..$nr"
exit $failed
