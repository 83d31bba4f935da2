/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The bodies of cholesky_kernels.h that have most of the work, as kernels in
 * OpenCL C and in CUDA C: an item has an element of a tile, in trsm() a row.
 * CUDA's drivers round a range up to whole blocks, so items beyond it return.
 * Parameters are the uses in their order, then the step. potrf() stays on a
 * CPU, and the tile comes home for it by itself.
 */
#ifndef EXAMPLES_CHOLESKY_DEVICE_H
#define EXAMPLES_CHOLESKY_DEVICE_H

static const char device_text[] =
	"#ifdef __OPENCL_VERSION__\n"
	"#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
	"#define KERNEL kernel\n"
	"#define HELPER static\n"
	"#define GLOBAL global\n"
	"#define X get_global_id(0)\n"
	"#define Y get_global_id(1)\n"
	"#else\n"
	"typedef unsigned int uint;\n"
	"#define KERNEL extern \"C\" __global__\n"
	"#define HELPER static __device__\n"
	"#define GLOBAL\n"
	"#define X (blockIdx.x * blockDim.x + threadIdx.x)\n"
	"#define Y (blockIdx.y * blockDim.y + threadIdx.y)\n"
	"#endif\n"
	"typedef struct { uint n, b, i, j; double diagonal; } tile;\n"
	"\n"
	"KERNEL void trsm(GLOBAL const double *l, GLOBAL double *a, tile s)\n"
	"{\n"
	"	uint i = X, j, k;\n"
	"\n"
	"	for (j = 0; i < s.b && j < s.b; j++) {\n"
	"		a[j * s.b + i] /= l[j * s.b + j];\n"
	"		for (k = j + 1; k < s.b; k++)\n"
	"			a[k * s.b + i] -= a[j * s.b + i] * l[j * s.b + k];\n"
	"	}\n"
	"}\n"
	"\n"
	"HELPER double dot_of(GLOBAL const double *x, GLOBAL const double *y,\n"
	"		     uint b, uint i, uint j)\n"
	"{\n"
	"	double sum = 0;\n"
	"	uint k;\n"
	"\n"
	"	for (k = 0; k < b; k++)\n"
	"		sum += x[k * b + i] * y[k * b + j];\n"
	"	return sum;\n"
	"}\n"
	"\n"
	"KERNEL void syrk(GLOBAL const double *x, GLOBAL double *a, tile s)\n"
	"{\n"
	"	uint i = X, j = Y;\n"
	"\n"
	"	if (i < s.b && i >= j)\n"
	"		a[j * s.b + i] -= dot_of(x, x, s.b, i, j);\n"
	"}\n"
	"\n"
	"KERNEL void gemm(GLOBAL const double *x, GLOBAL const double *y,\n"
	"		 GLOBAL double *a, tile s)\n"
	"{\n"
	"	uint i = X, j = Y;\n"
	"\n"
	"	if (i < s.b && j < s.b)\n"
	"		a[j * s.b + i] -= dot_of(x, y, s.b, i, j);\n"
	"}\n";

#endif
