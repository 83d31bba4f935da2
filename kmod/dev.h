/* SPDX-License-Identifier: GPL-2.0-only */
/* The device /dev/lkdf: what user space says is checked here. */
#ifndef LKDF_DEV_H
#define LKDF_DEV_H

#include <linux/fs.h>
#include <linux/miscdevice.h>

#include "limits.h"

struct lkdf_dev {
	struct miscdevice misc;
	struct limits limits;
};

extern const struct file_operations lkdf_fops;

#endif
