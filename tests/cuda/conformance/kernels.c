/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Kernels of the checks, in PTX, which the driver compiles. */
#include "tests/cuda/conformance/check.h"

const char ptx_kernels[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .global .align 4 .u32 counter;\n"
	".visible .entry empty()\n{\n ret;\n}\n"
	/* until *flag is not 0, or so many ns have gone */
	".visible .entry gate(.param .u64 flag, .param .u64 limit)\n{\n"
	" .reg .u64 %f, %l, %a, %b;\n .reg .u32 %v;\n .reg .pred %p, %q;\n"
	" ld.param.u64 %f, [flag];\n ld.param.u64 %l, [limit];\n"
	" mov.u64 %a, %globaltimer;\nagain:\n"
	" ld.volatile.global.u32 %v, [%f];\n setp.ne.u32 %p, %v, 0;\n @%p ret;\n"
	" mov.u64 %b, %globaltimer;\n sub.u64 %b, %b, %a;\n"
	" setp.lt.u64 %q, %b, %l;\n @%q bra again;\n ret;\n}\n"
	".visible .entry spin(.param .u64 limit)\n{\n"
	" .reg .u64 %l, %a, %b;\n .reg .pred %q;\n ld.param.u64 %l, [limit];\n"
	" mov.u64 %a, %globaltimer;\nagain:\n"
	" mov.u64 %b, %globaltimer;\n sub.u64 %b, %b, %a;\n"
	" setp.lt.u64 %q, %b, %l;\n @%q bra again;\n ret;\n}\n"
	".visible .entry store(.param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %v;\n ld.param.u64 %a, [at];\n"
	" ld.param.u32 %v, [value];\n st.global.u32 [%a], %v;\n ret;\n}\n"
	/* gate, then the last store, seen by the host */
	".visible .entry gate_store(.param .u64 flag, .param .u64 limit, .param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %f, %l, %a, %b, %t;\n .reg .u32 %v, %w;\n .reg .pred %p, %q;\n"
	" ld.param.u64 %f, [flag];\n ld.param.u64 %l, [limit];\n"
	" mov.u64 %a, %globaltimer;\nagain:\n"
	" ld.volatile.global.u32 %v, [%f];\n setp.ne.u32 %p, %v, 0;\n @%p bra out;\n"
	" mov.u64 %b, %globaltimer;\n sub.u64 %b, %b, %a;\n"
	" setp.lt.u64 %q, %b, %l;\n @%q bra again;\nout:\n"
	" ld.param.u64 %t, [at];\n ld.param.u32 %w, [value];\n"
	" membar.sys;\n st.volatile.global.u32 [%t], %w;\n ret;\n}\n"
	/* *at = 2 * *at + value: the order shows */
	".visible .entry step(.param .u64 at, .param .u32 value)\n{\n"
	" .reg .u64 %a;\n .reg .u32 %v, %w;\n ld.param.u64 %a, [at];\n"
	" ld.param.u32 %v, [value];\n ld.global.u32 %w, [%a];\n"
	" add.u32 %w, %w, %w;\n add.u32 %w, %w, %v;\n st.global.u32 [%a], %w;\n"
	" ret;\n}\n"
	/* after so many ns a store to that address */
	".visible .entry late(.param .u64 limit, .param .u64 at)\n{\n"
	" .reg .u64 %l, %a, %b;\n .reg .pred %q;\n ld.param.u64 %l, [limit];\n"
	" mov.u64 %a, %globaltimer;\nagain:\n"
	" mov.u64 %b, %globaltimer;\n sub.u64 %b, %b, %a;\n"
	" setp.lt.u64 %q, %b, %l;\n @%q bra again;\n"
	" ld.param.u64 %a, [at];\n st.global.u64 [%a], %b;\n ret;\n}\n"
	".visible .entry stop()\n{\n trap;\n ret;\n}\n"
	".visible .entry bound64()\n.maxntid 64\n{\n ret;\n}\n"
	".visible .entry shared1k()\n{\n .shared .align 4 .b8 s[1024];\n"
	" .reg .u32 %v;\n mov.u32 %v, s;\n st.shared.u32 [%v], %v;\n ret;\n}\n";

const char ptx_assert[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".global .align 1 .b8 text[5] = {119, 104, 121, 63, 0};\n"
	".extern .func __assertfail(.param .b64 a, .param .b64 b, "
	".param .b32 c, .param .b64 d, .param .b64 e);\n"
	".visible .entry claim()\n{\n .reg .b64 %t, %z;\n .reg .b32 %l;\n"
	" mov.u64 %t, text;\n cvta.global.u64 %t, %t;\n mov.u64 %z, 1;\n"
	" mov.u32 %l, 7;\n {\n .param .b64 a;\n .param .b64 b;\n .param .b32 c;\n"
	" .param .b64 d;\n .param .b64 e;\n st.param.b64 [a], %t;\n"
	" st.param.b64 [b], %t;\n st.param.b32 [c], %l;\n st.param.b64 [d], %t;\n"
	" st.param.b64 [e], %z;\n call __assertfail, (a, b, c, d, e);\n }\n"
	" ret;\n}\n";

const char ptx_later[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			 ".visible .entry later() { ret; }\n";
