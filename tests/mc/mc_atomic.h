/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The names of lib/base/atomic.h under LKDF_MC: each access goes to the
 * checker with its order, size and place. Places are collected in a section,
 * so that `--mutate` can weaken them one at a time without a rebuild.
 *
 * An order that C11 does not allow for an access does not compile.
 */
#ifndef MC_ATOMIC_H
#define MC_ATOMIC_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Bits: 1 acquire, 2 release, 4 in the order of sequential consistency. */
enum mc_order {
	MC_RELAXED = 0,
	MC_ACQUIRE = 1,
	MC_RELEASE = 2,
	MC_ACQ_REL = 3,
	MC_SEQ_CST = 7,
};

enum mc_kind {
	MC_LOAD,
	MC_STORE,
	MC_XCHG,
	MC_CAS,
	MC_ADD,
	MC_SUB,
	MC_OR,
	MC_AND,
	MC_PAUSE,
	MC_PLAIN_LOAD,
	MC_PLAIN_STORE,
	/* The checker's own. */
	MC_FUTEX_WAIT,
	MC_FUTEX_SLEEP,
	MC_FUTEX_WAKE,
	MC_FREE,
	MC_END,
};

/* One access in the source. */
struct mc_site {
	const char *file, *func, *text;
	int line;
	enum mc_kind kind;
	enum mc_order order, fail;
	/* Mutations: a store is left out, a CAS always succeeds. */
	bool is_dropped, is_blind;
};

uint64_t mc_load(const volatile void *p, unsigned size, struct mc_site *s);
void mc_store(volatile void *p, unsigned size, uint64_t v, struct mc_site *s);
uint64_t mc_rmw(volatile void *p, unsigned size, uint64_t v, struct mc_site *s);
bool mc_cas(volatile void *p, void *old, unsigned size, uint64_t v,
	    struct mc_site *s);
void mc_pause(struct mc_site *s);
void *mc_plain_load(const volatile void *p, unsigned size, struct mc_site *s);
void *mc_plain_store(volatile void *p, unsigned size, struct mc_site *s);

#define MC_LD_relaxed MC_RELAXED
#define MC_LD_acquire MC_ACQUIRE
#define MC_LD_seq_cst MC_SEQ_CST
#define MC_ST_relaxed MC_RELAXED
#define MC_ST_release MC_RELEASE
#define MC_ST_seq_cst MC_SEQ_CST
#define MC_RMW_relaxed MC_RELAXED
#define MC_RMW_acquire MC_ACQUIRE
#define MC_RMW_release MC_RELEASE
#define MC_RMW_acq_rel MC_ACQ_REL
#define MC_RMW_seq_cst MC_SEQ_CST

/* Is the row of a table left out? Rows are found when they are asked for. */
bool mc_row_is_dropped(const char *file, const char *func, const char *name);
#define row_is_dropped(name) mc_row_is_dropped(__FILE__, __func__, name)

/* The type of *p without _Atomic. */
#define MC_TYPE(p) __typeof__(((void)0, *(p)))

#define MC_SITE(k, o, f, t)                                                 \
	(__extension__({                                                    \
		static struct mc_site mc_site_ = { __FILE__, __func__, t,   \
						   __LINE__, k,	       o,   \
						   f,	     0,	       0 }; \
		static struct mc_site *mc_site_p_                           \
			__attribute__((section("mc_sites"), used)) =        \
				&mc_site_;                                  \
		&mc_site_;                                                  \
	}))

#define MC_RMW(p, v, k, o)                                                   \
	(__extension__({                                                     \
		(MC_TYPE(p))                                                 \
			mc_rmw((p), sizeof(*(p)), (uint64_t)(MC_TYPE(p))(v), \
			       MC_SITE(k, MC_RMW_##o, MC_RELAXED, #p));      \
	}))

#define a_load(p, o)                                                          \
	(__extension__({                                                      \
		(MC_TYPE(p))                                                  \
			mc_load((p), sizeof(*(p)),                            \
				MC_SITE(MC_LOAD, MC_LD_##o, MC_RELAXED, #p)); \
	}))
#define a_store(p, v, o)                                       \
	mc_store((p), sizeof(*(p)), (uint64_t)(MC_TYPE(p))(v), \
		 MC_SITE(MC_STORE, MC_ST_##o, MC_RELAXED, #p))
#define a_xchg(p, v, o) MC_RMW(p, v, MC_XCHG, o)
#define a_add(p, v, o) MC_RMW(p, v, MC_ADD, o)
#define a_sub(p, v, o) MC_RMW(p, v, MC_SUB, o)
#define a_or(p, v, o) MC_RMW(p, v, MC_OR, o)
#define a_and(p, v, o) MC_RMW(p, v, MC_AND, o)
#define a_cas(p, old, v, o, f)                                 \
	mc_cas((p), 1 ? (old) : (MC_TYPE(p) *)0, sizeof(*(p)), \
	       (uint64_t)(MC_TYPE(p))(v),                      \
	       MC_SITE(MC_CAS, MC_RMW_##o, MC_LD_##f, #p))
#define a_pause() mc_pause(MC_SITE(MC_PAUSE, MC_RELAXED, MC_RELAXED, "pause"))
#define a_delay() ((void)0)
#define plain_load(p)                                                     \
	(*(__typeof__(p))mc_plain_load((p), sizeof(*(p)),                 \
				       MC_SITE(MC_PLAIN_LOAD, MC_RELAXED, \
					       MC_RELAXED, #p)))
#define plain_store(p, v)                                                      \
	((void)(*(__typeof__(p))mc_plain_store(                                \
			(p), sizeof(*(p)),                                     \
			MC_SITE(MC_PLAIN_STORE, MC_RELAXED, MC_RELAXED, #p)) = \
			(v)))

#endif
