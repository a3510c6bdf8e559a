// SPDX-License-Identifier: Apache-2.0
//
// A pool for torch.cuda.MemPool whose physical memory can be taken away while its addresses stay, as engines do it
// that sleep while a trainer works on the same GPU. Each block has several pieces of physical memory behind it.
#include <cuda.h>
#include <dlfcn.h>
#include <stddef.h>

enum { most_blocks = 64, most_pieces = 64 };
static const size_t piece = (size_t)1 << 30;

static struct {
  CUdeviceptr at;
  size_t size;
  size_t asleep;  // pieces, from the first on
  CUmemGenericAllocationHandle memory[most_pieces];
} blocks[most_blocks];
static int count;
static int device_of_pool;

#define CALL(name, ...) ((CUresult(*)())dlsym(RTLD_DEFAULT, #name))(__VA_ARGS__)

static size_t size_of(int block, size_t number) {
  const size_t before = number * piece;
  return blocks[block].size - before < piece ? blocks[block].size - before : piece;
}

static size_t pieces_of(int block) { return (blocks[block].size + piece - 1) / piece; }

static int fill(int block, size_t number) {
  CUmemAllocationProp what = {0};
  what.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  what.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
  what.location.id = device_of_pool;
  CUmemAccessDesc access = {0};
  access.location = what.location;
  access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  const size_t size = size_of(block, number);
  const CUdeviceptr at = blocks[block].at + number * piece;
  const CUresult status =
      CALL(cuMemCreate, &blocks[block].memory[number], size, &what, (unsigned long long)0);
  if (status != CUDA_SUCCESS) return (int)status;
  CALL(cuMemMap, at, size, (size_t)0, blocks[block].memory[number], (unsigned long long)0);
  CALL(cuMemSetAccess, at, size, &access, (size_t)1);
  return 0;
}

static void empty(int block, size_t number) {
  CALL(cuMemUnmap, blocks[block].at + number * piece, size_of(block, number));
  CALL(cuMemRelease, blocks[block].memory[number]);
}

void* pool_malloc(ptrdiff_t size, int device, void* stream) {
  (void)stream;
  const size_t unit = 2u << 20;
  const int block = count++;
  device_of_pool = device;
  blocks[block].size = ((size_t)size + unit - 1) / unit * unit;
  CALL(cuMemAddressReserve, &blocks[block].at, blocks[block].size, (size_t)0, (CUdeviceptr)0,
       (unsigned long long)0);
  for (size_t i = 0; i < pieces_of(block); ++i) {
    if (fill(block, i) != 0) return NULL;
  }
  return (void*)blocks[block].at;
}

void pool_free(void* at, ptrdiff_t size, int device, void* stream) {
  (void)size, (void)device, (void)stream;
  for (int block = 0; block < count; ++block) {
    if (blocks[block].at != (CUdeviceptr)at) continue;
    for (size_t i = blocks[block].asleep; i < pieces_of(block); ++i) empty(block, i);
    CALL(cuMemAddressFree, blocks[block].at, blocks[block].size);
    blocks[block].at = 0;
    blocks[block].size = blocks[block].asleep = 0;
  }
}

// Its first pieces, so many of them; 0 wakes all of it up. Returns CUDA's error.
int pool_sleep(int block, int pieces) {
  while (blocks[block].asleep < (size_t)pieces) empty(block, blocks[block].asleep++);
  while (blocks[block].asleep > (size_t)pieces) {
    const int failed = fill(block, blocks[block].asleep - 1);
    if (failed != 0) return failed;
    --blocks[block].asleep;
  }
  return 0;
}
