/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The calls that gcc makes, as gcc 12 makes them. Their names and arguments are
 * the interface of libgomp.
 */
#ifndef GOMP_CALLS_H
#define GOMP_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned long long ull;

void GOMP_parallel(void (*fn)(void *), void *data, unsigned nr, unsigned flags);
unsigned GOMP_parallel_reductions(void (*fn)(void *), void *data, unsigned nr,
				  unsigned flags);
void GOMP_parallel_start(void (*fn)(void *), void *data, unsigned nr);
void GOMP_parallel_end(void);
void GOMP_barrier(void);
int omp_get_num_procs(void);
bool GOMP_single_start(void);
void *GOMP_single_copy_start(void);
void GOMP_single_copy_end(void *data);

#define DECLARE_NEXT(name)                                     \
	bool GOMP_loop_##name##_next(long *first, long *last); \
	bool GOMP_loop_ull_##name##_next(ull *first, ull *last)
#define DECLARE_LOOP(name)                                                  \
	bool GOMP_loop_##name##_start(long begin, long end, long step,      \
				      long chunk, long *first, long *last); \
	bool GOMP_loop_ull_##name##_start(bool is_up, ull begin, ull end,   \
					  ull step, ull chunk, ull *first,  \
					  ull *last);                       \
	DECLARE_NEXT(name)
#define DECLARE_RUNTIME(name)                                               \
	bool GOMP_loop_##name##_start(long begin, long end, long step,      \
				      long *first, long *last);             \
	bool GOMP_loop_ull_##name##_start(bool is_up, ull begin, ull end,   \
					  ull step, ull *first, ull *last); \
	DECLARE_NEXT(name)

DECLARE_LOOP(static);
DECLARE_LOOP(dynamic);
DECLARE_LOOP(guided);
DECLARE_LOOP(nonmonotonic_dynamic);
DECLARE_LOOP(nonmonotonic_guided);
DECLARE_LOOP(ordered_static);
DECLARE_LOOP(ordered_dynamic);
DECLARE_LOOP(ordered_guided);
DECLARE_RUNTIME(runtime);
DECLARE_RUNTIME(nonmonotonic_runtime);
DECLARE_RUNTIME(maybe_nonmonotonic_runtime);
DECLARE_RUNTIME(ordered_runtime);

bool GOMP_loop_start(long begin, long end, long step, long schedule, long chunk,
		     long *first, long *last, uintptr_t *reductions,
		     void **mem);
bool GOMP_loop_ordered_start(long begin, long end, long step, long schedule,
			     long chunk, long *first, long *last,
			     uintptr_t *reductions, void **mem);
bool GOMP_loop_ull_start(bool is_up, ull begin, ull end, ull step,
			 long schedule, ull chunk, ull *first, ull *last,
			 uintptr_t *reductions, void **mem);
bool GOMP_loop_ull_ordered_start(bool is_up, ull begin, ull end, ull step,
				 long schedule, ull chunk, ull *first,
				 ull *last, uintptr_t *reductions, void **mem);
#define DECLARE_DOACROSS(name)                                           \
	bool GOMP_loop_doacross_##name##_start(unsigned nr, long *count, \
					       long chunk, long *first,  \
					       long *last);              \
	bool GOMP_loop_ull_doacross_##name##_start(                      \
		unsigned nr, ull *count, ull chunk, ull *first, ull *last)

DECLARE_DOACROSS(static);
DECLARE_DOACROSS(dynamic);
DECLARE_DOACROSS(guided);
bool GOMP_loop_doacross_runtime_start(unsigned nr, long *count, long *first,
				      long *last);
bool GOMP_loop_ull_doacross_runtime_start(unsigned nr, ull *count, ull *first,
					  ull *last);
bool GOMP_loop_doacross_start(unsigned nr, long *count, long schedule,
			      long chunk, long *first, long *last,
			      uintptr_t *reductions, void **mem);
bool GOMP_loop_ull_doacross_start(unsigned nr, ull *count, long schedule,
				  ull chunk, ull *first, ull *last,
				  uintptr_t *reductions, void **mem);
void GOMP_doacross_post(long *at);
void GOMP_doacross_ull_post(ull *at);
void GOMP_doacross_wait(long first, ...);
void GOMP_doacross_ull_wait(ull first, ...);
void GOMP_loop_end(void);
void GOMP_loop_end_nowait(void);
bool GOMP_loop_end_cancel(void);
void GOMP_ordered_start(void);
void GOMP_ordered_end(void);

#define DECLARE_PARALLEL(name)                                            \
	void GOMP_parallel_loop_##name(void (*fn)(void *), void *data,    \
				       unsigned nr, long begin, long end, \
				       long step, long chunk, unsigned flags)
#define DECLARE_PARALLEL_RUNTIME(name)                                    \
	void GOMP_parallel_loop_##name(void (*fn)(void *), void *data,    \
				       unsigned nr, long begin, long end, \
				       long step, unsigned flags)

DECLARE_PARALLEL(static);
DECLARE_PARALLEL(dynamic);
DECLARE_PARALLEL(guided);
DECLARE_PARALLEL(nonmonotonic_dynamic);
DECLARE_PARALLEL(nonmonotonic_guided);
DECLARE_PARALLEL_RUNTIME(runtime);
DECLARE_PARALLEL_RUNTIME(nonmonotonic_runtime);
DECLARE_PARALLEL_RUNTIME(maybe_nonmonotonic_runtime);

#define DECLARE_OLD(name)                                                      \
	void GOMP_parallel_loop_##name##_start(void (*fn)(void *), void *data, \
					       unsigned nr, long begin,        \
					       long end, long step,            \
					       long chunk)

DECLARE_OLD(static);
DECLARE_OLD(dynamic);
DECLARE_OLD(guided);
void GOMP_parallel_loop_runtime_start(void (*fn)(void *), void *data,
				      unsigned nr, long begin, long end,
				      long step);
void GOMP_parallel_sections_start(void (*fn)(void *), void *data, unsigned nr,
				  unsigned nr_sections);

void GOMP_parallel_sections(void (*fn)(void *), void *data, unsigned nr,
			    unsigned nr_sections, unsigned flags);
unsigned GOMP_sections_start(unsigned nr);
unsigned GOMP_sections2_start(unsigned nr, uintptr_t *reductions, void **mem);
unsigned GOMP_sections_next(void);
void GOMP_sections_end(void);
void GOMP_sections_end_nowait(void);
bool GOMP_sections_end_cancel(void);
void GOMP_scope_start(uintptr_t *reductions);

void GOMP_task(void (*fn)(void *), void *data, void (*copy)(void *, void *),
	       long size, long align, bool is_deferred, unsigned flags,
	       void **depend, int priority, void *detach);
void GOMP_taskwait(void);
void GOMP_taskwait_depend(void **depend);
void GOMP_taskwait_depend_nowait(void **depend);
void GOMP_taskyield(void);
void GOMP_taskgroup_start(void);
void GOMP_taskgroup_end(void);
void GOMP_taskgroup_reduction_register(uintptr_t *reductions);
void GOMP_taskgroup_reduction_unregister(uintptr_t *reductions);
void GOMP_workshare_task_reduction_unregister(bool is_cancelled);
void GOMP_task_reduction_remap(size_t nr, size_t nr_originals, void **address);
void GOMP_taskloop(void (*fn)(void *), void *data, void (*copy)(void *, void *),
		   long size, long align, unsigned flags, unsigned long nr,
		   int priority, long begin, long end, long step);
void GOMP_taskloop_ull(void (*fn)(void *), void *data,
		       void (*copy)(void *, void *), long size, long align,
		       unsigned flags, unsigned long nr, int priority,
		       ull begin, ull end, ull step);

void GOMP_critical_start(void);
void GOMP_critical_end(void);
void GOMP_critical_name_start(void **name);
void GOMP_critical_name_end(void **name);
void GOMP_atomic_start(void);
void GOMP_atomic_end(void);

void GOMP_teams_reg(void (*fn)(void *), void *data, unsigned nr, unsigned limit,
		    unsigned flags);
bool GOMP_teams4(unsigned least, unsigned most, unsigned limit, bool is_first);
void GOMP_teams(unsigned nr, unsigned limit);
void GOMP_target_ext(int device, void (*fn)(void *), size_t nr, void **address,
		     size_t *size, unsigned short *kind, unsigned flags,
		     void **depend, void **args);
void GOMP_target_update_ext(int device, size_t nr, void **address, size_t *size,
			    unsigned short *kind, unsigned flags,
			    void **depend);
void GOMP_target_enter_exit_data(int device, size_t nr, void **address,
				 size_t *size, unsigned short *kind,
				 unsigned flags, void **depend);

bool GOMP_cancel(int which, bool is_asked);
bool GOMP_cancellation_point(int which);
bool GOMP_barrier_cancel(void);

#endif
