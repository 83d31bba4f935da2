/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "mechanism/rows.h"

#include "mechanism/client/client.h"
#include "mechanism/crew/crew.h"
#include "mechanism/due/due.h"
#include "mechanism/far/far.h"
#include "mechanism/gate/gate.h"
#include "mechanism/holdoff/holdoff.h"
#include "mechanism/home/home.h"
#include "mechanism/lend/lend.h"
#include "mechanism/nodes/nodes.h"
#include "mechanism/part/part.h"
#include "mechanism/publish/publish.h"
#include "mechanism/quota/quota.h"
#include "mechanism/team/team.h"
#include "mechanism/unpin/unpin.h"
#include "mechanism/victims/victims.h"

const struct mechanism *const mechanism_rows[] = {
	&home_mechanism, /* what came to the worker's node */
	&crew_mechanism, /* a loop that idle workers of a node share */
	&gate_mechanism, /* kinds that few workers run at once */
	&victims_mechanism, /* other workers' deques */
	&nodes_mechanism, /* what came to other nodes */
	&part_mechanism, /* work of some of a node's workers */
	&holdoff_mechanism, /* a worker keeps its work for a while */
	&publish_mechanism, /* private work behind a long body */
	&due_mechanism, /* a member of a gang comes before other work */
	&far_mechanism, /* planned work of other nodes */
	&client_mechanism, /* threads that submit need a CPU */
	&lend_mechanism, /* a seat while its worker rests in a join */
	&team_mechanism, /* CPUs for a body's own threads */
	&unpin_mechanism, /* a CPU that other threads have */
	&quota_mechanism, /* workers that have a CPU */
	NULL,
};
