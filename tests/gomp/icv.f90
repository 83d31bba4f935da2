! SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
! Calls of Fortran that read variables of a task or who a thread is.
program icv
  use omp_lib
  implicit none
  character(len=24) :: text
  character(len=8) :: short
  integer :: n

  call omp_set_default_device(3)
  call omp_set_default_allocator(omp_large_cap_mem_alloc)
  n = 0
  !$omp parallel reduction(+ : n)
  if (omp_get_default_device() == 3) n = n + 1
  if (omp_get_default_allocator() == omp_large_cap_mem_alloc) n = n + 1
  call omp_set_default_device(omp_get_thread_num())
  !$omp end parallel
  print *, 'threads', n == 2 * omp_get_max_threads(), omp_get_default_device()
  n = omp_capture_affinity(text, 'thread %n of %N ')
  print *, n, '[', text, ']'
  n = omp_capture_affinity(short, 'thread %n of %N ')
  print *, n, '[', short, ']'
  print *, omp_pause_resource(omp_pause_soft, omp_get_initial_device()), &
    omp_pause_resource_all(omp_pause_hard)
end program icv
