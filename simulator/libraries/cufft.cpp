// SPDX-License-Identifier: Apache-2.0
//
// cuFFT: plans, and the size of their work areas. A program that does not allocate a plan's work
// area itself (cufftSetAutoAllocation) has cuFFT take device memory for it.
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <mutex>
#include <unordered_map>

#include "simulator/core/device.h"
#include "simulator/core/device_memory.h"
#include "simulator/core/export.h"
#include "simulator/core/streams.h"
#include "simulator/libraries/outputs.h"
#include "simulator/libraries/own_memory.h"

namespace memtrace::simulator::cufft {
namespace {

enum status : int {
  success = 0,
  invalid_plan = 1,
  alloc_failed = 2,
  invalid_value = 4,
  exec_failed = 6,
  setup_failed = 7,
};

constexpr int version = CUDART_VERSION >= 13000 ? 12000 : 11200;

struct plan {
  int device = 0;
  cudaStream_t stream = nullptr;
  bool allocates = true;
  std::size_t work_bytes = 0;
  address_t work = 0;  // device memory that cuFFT took
};

struct plans {
  std::mutex mutex;
  std::unordered_map<int, plan> by_handle;
  int next = 1;
};

plans& all() {
  // Never destroyed: PyTorch destroys its cached plans in exit handlers.
  static plans* const instance = new plans;
  return *instance;
}

bool has_only_small_factors(long long size) {
  for (const long long factor : {2, 3, 5, 7}) {
    while (size % factor == 0) size /= factor;
  }
  return size == 1;
}

// Unverified, after the manual's remarks: one-dimensional transforms that fit a multiprocessor's
// memory need none; others a buffer as large as the data; sizes with large prime factors are
// embedded in larger ones and need up to eight times that.
std::size_t work_size(int rank, const long long* sizes, std::size_t complex_bytes,
                      long long batch) {
  constexpr long long fits_on_chip = 4096;
  std::size_t elements = static_cast<std::size_t>(batch);
  bool small = true;
  for (int index = 0; index < rank; ++index) {
    elements *= static_cast<std::size_t>(sizes[index]);
    small = small && has_only_small_factors(sizes[index]);
  }
  if (rank == 1 && small && sizes[0] <= fits_on_chip) return 0;
  return elements * complex_bytes * (small ? 1 : 8);
}

std::size_t complex_bytes(cudaDataType type) {
  return type == CUDA_R_16F || type == CUDA_R_64F ? 2 * element_bytes(type)
         : type == CUDA_R_32F                     ? 8
                                                  : element_bytes(type);
}

// cufftType: 0x6. are of doubles, 0x2. of floats.
std::size_t complex_bytes_of(int type) {
  return (type & 0x40) != 0 ? 16 : 8;
}

int create(int* to) {
  if (to == nullptr) return invalid_value;
  const int device = current_device();
  if (ensure_context(device) != cudaSuccess) return setup_failed;
  const std::lock_guard lock(all().mutex);
  *to = all().next++;
  all().by_handle[*to].device = device;
  return success;
}

int destroy(int handle) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().by_handle.find(handle);
  if (found == all().by_handle.end()) return invalid_plan;
  own_memory::give_back("libcufft", found->second.device, found->second.work);
  all().by_handle.erase(found);
  return success;
}

template <typename Action>
int with(int handle, Action action) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().by_handle.find(handle);
  return found == all().by_handle.end() ? invalid_plan : action(found->second);
}

int make(int handle, std::size_t work_bytes, std::size_t* to) {
  return with(handle, [=](plan& plan) -> int {
    plan.work_bytes = work_bytes;
    if (to != nullptr) *to = work_bytes;
    if (!plan.allocates) return success;
    const bool taken = own_memory::take("libcufft", plan.device, work_bytes, plan.work);
    return taken ? success : alloc_failed;
  });
}

int execute(int handle) {
  cudaStream_t stream = nullptr;
  const int found = with(handle, [&stream](const plan& plan) {
    stream = plan.stream;
    return success;
  });
  if (found != success) return found;
  return streams::launch(stream) == cudaSuccess ? success : exec_failed;
}

}  // namespace

MEMTRACE_API int cufftCreate(int* to) {
  return create(to);
}
MEMTRACE_API int cufftDestroy(int handle) {
  return destroy(handle);
}
MEMTRACE_API int cufftGetVersion(int* to) {
  if (to == nullptr) return invalid_value;
  *to = version;
  return success;
}
MEMTRACE_API int cufftSetStream(int handle, cudaStream_t stream) {
  return with(handle, [stream](plan& plan) {
    plan.stream = stream;
    return success;
  });
}
MEMTRACE_API int cufftSetAutoAllocation(int handle, int allocates) {
  return with(handle, [allocates](plan& plan) {
    plan.allocates = allocates != 0;
    return success;
  });
}
MEMTRACE_API int cufftSetWorkArea(int handle, void*) {
  return with(handle, [](plan& plan) {
    own_memory::give_back("libcufft", plan.device, plan.work);
    plan.work = 0;
    return success;
  });
}
MEMTRACE_API int cufftGetSize(int handle, std::size_t* to) {
  return with(handle, [to](const plan& plan) {
    *to = plan.work_bytes;
    return success;
  });
}

MEMTRACE_API int cufftXtMakePlanMany(int handle, int rank, long long* sizes, long long*, long long,
                                     long long, cudaDataType, long long*, long long, long long,
                                     cudaDataType, long long batch, std::size_t* to,
                                     cudaDataType execution) {
  return make(handle, work_size(rank, sizes, complex_bytes(execution), batch), to);
}
MEMTRACE_API int cufftMakePlanMany64(int handle, int rank, long long* sizes, long long*, long long,
                                     long long, long long*, long long, long long, int type,
                                     long long batch, std::size_t* to) {
  return make(handle, work_size(rank, sizes, complex_bytes_of(type), batch), to);
}
MEMTRACE_API int cufftMakePlanMany(int handle, int rank, int* sizes, int*, int, int, int*, int, int,
                                   int type, int batch, std::size_t* to) {
  if (rank < 1 || rank > 3) return invalid_value;
  long long wide[3];
  for (int index = 0; index < rank; ++index) wide[index] = sizes[index];
  return make(handle, work_size(rank, wide, complex_bytes_of(type), batch), to);
}
MEMTRACE_API int cufftMakePlan1d(int handle, int x, int type, int batch, std::size_t* to) {
  const long long sizes[] = {x};
  return make(handle, work_size(1, sizes, complex_bytes_of(type), batch), to);
}
MEMTRACE_API int cufftMakePlan2d(int handle, int x, int y, int type, std::size_t* to) {
  const long long sizes[] = {x, y};
  return make(handle, work_size(2, sizes, complex_bytes_of(type), 1), to);
}
MEMTRACE_API int cufftMakePlan3d(int handle, int x, int y, int z, int type, std::size_t* to) {
  const long long sizes[] = {x, y, z};
  return make(handle, work_size(3, sizes, complex_bytes_of(type), 1), to);
}

MEMTRACE_API int cufftPlan1d(int* to, int x, int type, int batch) {
  const int created = create(to);
  return created == success ? cufftMakePlan1d(*to, x, type, batch, nullptr) : created;
}
MEMTRACE_API int cufftPlan2d(int* to, int x, int y, int type) {
  const int created = create(to);
  return created == success ? cufftMakePlan2d(*to, x, y, type, nullptr) : created;
}
MEMTRACE_API int cufftPlan3d(int* to, int x, int y, int z, int type) {
  const int created = create(to);
  return created == success ? cufftMakePlan3d(*to, x, y, z, type, nullptr) : created;
}
MEMTRACE_API int cufftPlanMany(int* to, int rank, int* sizes, int* inembed, int istride, int idist,
                               int* onembed, int ostride, int odist, int type, int batch) {
  const int created = create(to);
  return created != success ? created
                            : cufftMakePlanMany(*to, rank, sizes, inembed, istride, idist, onembed,
                                                ostride, odist, type, batch, nullptr);
}

#define MEMTRACE_TRANSFORM(name)      \
  MEMTRACE_API int name(int handle) { \
    return execute(handle);           \
  }
MEMTRACE_TRANSFORM(cufftXtExec)
MEMTRACE_TRANSFORM(cufftExecC2C)
MEMTRACE_TRANSFORM(cufftExecR2C)
MEMTRACE_TRANSFORM(cufftExecC2R)
MEMTRACE_TRANSFORM(cufftExecZ2Z)
MEMTRACE_TRANSFORM(cufftExecD2Z)
MEMTRACE_TRANSFORM(cufftExecZ2D)

}  // namespace memtrace::simulator::cufft
