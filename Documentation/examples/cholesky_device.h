/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The bodies of cholesky_kernels.h that have most of the work, as kernels in
 * OpenCL C: an item has an element of a tile, in trsm() a row. Parameters are
 * the uses in their order, then the step. potrf() stays on a CPU, and the tile
 * comes home for it by itself.
 */
#ifndef EXAMPLES_CHOLESKY_DEVICE_H
#define EXAMPLES_CHOLESKY_DEVICE_H

static const char device_text[] =
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"typedef struct { uint n, b, i, j; double diagonal; } tile;\n"
	"\n"
	"kernel void trsm(global const double *l, global double *a, tile s)\n"
	"{\n"
	"	uint i = get_global_id(0), j, k;\n"
	"\n"
	"	for (j = 0; j < s.b; j++) {\n"
	"		a[j * s.b + i] /= l[j * s.b + j];\n"
	"		for (k = j + 1; k < s.b; k++)\n"
	"			a[k * s.b + i] -= a[j * s.b + i] * l[j * s.b + k];\n"
	"	}\n"
	"}\n"
	"\n"
	"double dot_of(global const double *x, global const double *y, uint b)\n"
	"{\n"
	"	uint i = get_global_id(0), j = get_global_id(1), k;\n"
	"	double sum = 0;\n"
	"\n"
	"	for (k = 0; k < b; k++)\n"
	"		sum += x[k * b + i] * y[k * b + j];\n"
	"	return sum;\n"
	"}\n"
	"\n"
	"kernel void syrk(global const double *x, global double *a, tile s)\n"
	"{\n"
	"	if (get_global_id(0) >= get_global_id(1))\n"
	"		a[get_global_id(1) * s.b + get_global_id(0)] -=\n"
	"			dot_of(x, x, s.b);\n"
	"}\n"
	"\n"
	"kernel void gemm(global const double *x, global const double *y,\n"
	"		 global double *a, tile s)\n"
	"{\n"
	"	a[get_global_id(1) * s.b + get_global_id(0)] -=\n"
	"		dot_of(x, y, s.b);\n"
	"}\n";

#endif
