/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where a worker, a node and the scheduler have the data of mechanisms: the
 * slots of data[], one for each row that states some. A mechanism alone uses
 * its slot, through functions of its header: X_of() is the data of a worker,
 * X_at() that of a node, and X_in() that of a scheduler.
 */
#ifndef MECHANISM_SLOTS_H
#define MECHANISM_SLOTS_H

enum mechanism_slot {
	SLOT_CLIENT,
	SLOT_CREW,
	SLOT_DUE,
	SLOT_FAR,
	SLOT_GATE,
	SLOT_HOLDOFF,
	SLOT_LEND,
	SLOT_PART,
	SLOT_PUBLISH,
	SLOT_QUOTA,
	SLOT_TEAM,
	SLOT_UNPIN,
};

#endif
