/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TOLD_H
#define TOLD_H
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/* CUDA's runtime, as its headers declare it. */
int cudaMalloc(void** address, size_t bytes);
int cudaFree(void* address);

#ifdef __cplusplus
}
#endif
#endif
