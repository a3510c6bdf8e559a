// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/cublaslt_descriptors.h"

#include <library_types.h>

#include <algorithm>
#include <mutex>
#include <unordered_map>

#include "simulator/core/export.h"

namespace memtrace::simulator::cublaslt {
namespace {

using cublas::alloc_failed;
using cublas::invalid_value;
using cublas::success;

constexpr std::size_t opaque_bytes = 512;  // more than any opaque structure of cublasLt.h

struct registry {
  std::mutex mutex;
  std::unordered_map<const void*, attribute_store> stores;
};

registry& all() {
  // Never destroyed: descriptors are used by exit handlers.
  static registry* const instance = new registry;
  return *instance;
}

attribute_store new_layout(cudaDataType type, std::uint64_t rows, std::uint64_t columns,
                           std::int64_t leading) {
  attribute_store store;
  store.set_scalar(layout_type, static_cast<std::uint32_t>(type));
  store.set_scalar(layout_order, std::int32_t{0});
  store.set_scalar(layout_rows, rows);
  store.set_scalar(layout_columns, columns);
  store.set_scalar(layout_leading, leading);
  store.set_scalar(layout_batch, std::int32_t{1});
  store.set_scalar(layout_batch_stride, std::int64_t{0});
  return store;
}

attribute_store new_matmul(int compute_type, cudaDataType scale_type) {
  constexpr std::uint32_t default_epilogue = 1;
  attribute_store store;
  store.set_scalar(matmul_compute_type, std::int32_t{compute_type});
  store.set_scalar(matmul_scale_type, static_cast<std::int32_t>(scale_type));
  store.set_scalar(matmul_pointer_mode, std::int32_t{0});
  store.set_scalar(matmul_epilogue, default_epilogue);
  return store;
}

attribute_store new_transform(cudaDataType scale_type) {
  attribute_store store;
  store.set_scalar(0, static_cast<std::int32_t>(scale_type));
  return store;
}

int create(void** to, attribute_store attributes) {
  if (to == nullptr) return invalid_value;
  *to = ::operator new(opaque_bytes);
  std::memset(*to, 0, opaque_bytes);
  begin(*to, std::move(attributes));
  return success;
}

// In the program's memory.
int place(void* at, std::size_t size, attribute_store attributes) {
  if (at == nullptr) return invalid_value;
  if (size == 0) return alloc_failed;
  begin(at, std::move(attributes));
  return success;
}

int destroy(void* descriptor) {
  if (descriptor == nullptr) return success;
  end(descriptor);
  ::operator delete(descriptor);
  return success;
}

int set(const void* descriptor, int name, const void* from, std::size_t bytes) {
  if (from == nullptr) return invalid_value;
  const std::lock_guard lock(all().mutex);
  const auto found = all().stores.find(descriptor);
  if (found == all().stores.end()) return invalid_value;
  found->second.set(name, 0, 1, from, bytes);
  return success;
}

// An attribute that was never set is zero, which is the default of all that `begin` does not give.
int get(const void* descriptor, int name, void* to, std::size_t bytes, std::size_t* written) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().stores.find(descriptor);
  if (found == all().stores.end()) return invalid_value;
  const attribute_value* value = found->second.get(name);
  const std::size_t size = value == nullptr ? bytes : value->bytes.size();
  if (written != nullptr) *written = size;
  if (bytes == 0 && written != nullptr) return success;
  if (to == nullptr || bytes < size) return invalid_value;
  if (value == nullptr) {
    std::memset(to, 0, size);
  } else {
    std::memcpy(to, value->bytes.data(), size);
  }
  return success;
}

}  // namespace

void begin(const void* descriptor, attribute_store attributes) {
  const std::lock_guard lock(all().mutex);
  all().stores[descriptor] = std::move(attributes);
}

void end(const void* descriptor) {
  const std::lock_guard lock(all().mutex);
  all().stores.erase(descriptor);
}

attribute_store attributes_of(const void* descriptor) {
  const std::lock_guard lock(all().mutex);
  const auto found = all().stores.find(descriptor);
  return found == all().stores.end() ? attribute_store{} : found->second;
}

MEMTRACE_API int cublasLtMatrixLayoutCreate(void** to, cudaDataType type, std::uint64_t rows,
                                            std::uint64_t columns, std::int64_t leading) {
  return create(to, new_layout(type, rows, columns, leading));
}
MEMTRACE_API int cublasLtMatrixLayoutInit_internal(void* at, std::size_t size, cudaDataType type,
                                                   std::uint64_t rows, std::uint64_t columns,
                                                   std::int64_t leading) {
  return place(at, size, new_layout(type, rows, columns, leading));
}
MEMTRACE_API int cublasLtMatmulDescCreate(void** to, int compute_type, cudaDataType scale_type) {
  return create(to, new_matmul(compute_type, scale_type));
}
MEMTRACE_API int cublasLtMatmulDescInit_internal(void* at, std::size_t size, int compute_type,
                                                 cudaDataType scale_type) {
  return place(at, size, new_matmul(compute_type, scale_type));
}
MEMTRACE_API int cublasLtMatmulPreferenceCreate(void** to) {
  return create(to, {});
}
MEMTRACE_API int cublasLtMatmulPreferenceInit_internal(void* at, std::size_t size) {
  return place(at, size, {});
}
MEMTRACE_API int cublasLtMatrixTransformDescCreate(void** to, cudaDataType scale_type) {
  return create(to, new_transform(scale_type));
}
MEMTRACE_API int cublasLtMatrixTransformDescInit_internal(void* at, std::size_t size,
                                                          cudaDataType scale_type) {
  return place(at, size, new_transform(scale_type));
}

#define MEMTRACE_DESCRIPTOR(name)                                                                  \
  MEMTRACE_API int cublasLt##name##Destroy(void* descriptor) {                                     \
    return destroy(descriptor);                                                                    \
  }                                                                                                \
  MEMTRACE_API int cublasLt##name##SetAttribute(void* descriptor, int attribute, const void* from, \
                                                std::size_t bytes) {                               \
    return set(descriptor, attribute, from, bytes);                                                \
  }                                                                                                \
  MEMTRACE_API int cublasLt##name##GetAttribute(const void* descriptor, int attribute, void* to,   \
                                                std::size_t bytes, std::size_t* written) {         \
    return get(descriptor, attribute, to, bytes, written);                                         \
  }
MEMTRACE_DESCRIPTOR(MatrixLayout)
MEMTRACE_DESCRIPTOR(MatmulDesc)
MEMTRACE_DESCRIPTOR(MatmulPreference)
MEMTRACE_DESCRIPTOR(MatrixTransformDesc)

}  // namespace memtrace::simulator::cublaslt
