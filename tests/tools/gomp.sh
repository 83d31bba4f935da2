# SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
# shellcheck shell=sh
# What tests with programs of OpenMP share, sourced after tests/tools/tap.sh: no
# variable of OpenMP is set, and $lib is the library.
# shellcheck disable=SC2034,SC2154
unset OMP_NUM_THREADS OMP_SCHEDULE OMP_PROC_BIND OMP_PLACES OMP_WAIT_POLICY
unset OMP_DYNAMIC
lib=$build/liblkdf-gomp.so

# A sanitizer is to come first, and these programs have none: ends the script.
skip_sanitizers() {
	case $(ldd "$lib") in
	*libasan* | *libtsan* | *libubsan*)
		echo '1..0 # SKIP a sanitizer has to be loaded before the library'
		exit 0
		;;
	esac
}
