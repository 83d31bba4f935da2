/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * For programs with idle.c and worker.c: the number of CPUs stays as it is, so
 * that nobody is on standby of mechanism/quota/quota.c.
 */
#ifndef MC_QUOTA_BELOW_H
#define MC_QUOTA_BELOW_H

#include "mechanism/quota/quota.h"

void quota_rise(struct worker *w)
{
	(void)w;
}

void quota_look(struct worker *w)
{
	(void)w;
}

bool quota_must_leave(struct worker *w)
{
	(void)w;
	return false;
}

void quota_stand_by(struct worker *w)
{
	(void)w;
	mc_fail("%s", __func__);
}

void quota_stir(struct quota *q)
{
	(void)q;
	mc_fail("%s", __func__);
}

#endif
