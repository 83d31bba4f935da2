! SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
! Locks of Fortran, whose nestable kind has 8 bytes: each lock is a variable of
! its own, also in an array, and the variable beside it stays as it is.
program locks
  use omp_lib
  implicit none
  integer(omp_nest_lock_kind) :: nest(4)
  integer(omp_lock_kind) :: plain(4)
  integer :: i, k, total(4)

  total = 0
  do k = 1, 4
    call omp_init_nest_lock(nest(k))
    call omp_init_lock(plain(k))
  end do
  !$omp parallel private(k)
  !$omp do
  do i = 1, 4000
    k = mod(i, 4) + 1
    call omp_set_nest_lock(nest(k))
    call omp_set_nest_lock(nest(k))
    call omp_set_lock(plain(k))
    total(k) = total(k) + 1
    call omp_unset_lock(plain(k))
    call omp_unset_nest_lock(nest(k))
    call omp_unset_nest_lock(nest(k))
  end do
  !$omp end parallel
  print *, 'total', total
  k = omp_test_nest_lock(nest(2))
  print *, 'depth', k, omp_test_nest_lock(nest(2)), omp_test_lock(plain(1))
  !$omp parallel num_threads(2)
  !$omp master
  print *, 'another task', omp_test_nest_lock(nest(2)), omp_test_lock(plain(1))
  !$omp end master
  !$omp end parallel
  call omp_unset_lock(plain(1))
  call omp_unset_nest_lock(nest(2))
  call omp_unset_nest_lock(nest(2))
  print *, 'free', omp_test_nest_lock(nest(2)), omp_test_lock(plain(1))
  call omp_unset_lock(plain(1))
  call omp_unset_nest_lock(nest(2))
  do k = 1, 4
    call omp_destroy_nest_lock(nest(k))
    call omp_destroy_lock(plain(k))
  end do
end program locks
