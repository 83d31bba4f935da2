/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The pins of "lkdf probe start", by plain bpf(2): three arrays are mapped
 * read-only at open, and each thread that runs bodies registers itself when it
 * starts. After that nothing is called any more. Layout and rules:
 * bpf/uapi/lkdf_probe.h.
 */
#ifndef SIGNAL_SRC_BPF_H
#define SIGNAL_SRC_BPF_H

#include "signal/workers.h"
#include "trace/probed.h"

int src_bpf_open(struct workers *b);
void src_bpf_close(struct workers *b);
void src_bpf_enter(struct workers *b, int executor,
		   const struct workers_own *own);

/* Is somebody feeding it? CLOCK_MONOTONIC; *age: since it beat. */
bool src_bpf_is_live(const struct workers *b, int64_t now, uint64_t *age);

/* Adds what is known of an executor. False: it is not seen. */
bool src_bpf_read(const struct workers *b, int executor, uint64_t age,
		  int64_t now, struct lkdf_facts *out);

/* The word with most samples of this runtime; 0: none. */
uint64_t src_bpf_hottest(const struct workers *b);

/* It covers the whole machine, when that is asked for. */
void src_bpf_moved(const struct workers *b, uint64_t age, struct lkdf_fact *f);

/* False: nobody there counts pages that move. Borrowed until it is closed. */
bool src_bpf_news(const struct workers *b, struct board_news *out);

void src_bpf_mark(const struct workers *b, struct workers_mark *m);

/* The source of recordings; false: there is no probe. Borrowed until it is
 * closed. */
bool src_bpf_source(const struct workers *b, struct probed_source *out);

/* The key that tools need to name words of this runtime. */
uint64_t src_bpf_key(const struct workers *b);

#endif
