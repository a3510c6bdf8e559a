// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>
#include <library_types.h>

#include <cstddef>
#include <cstdint>
#include <set>

#include "tests/unit/catch.h"

extern "C" {
int cublasCreate_v2(void**);
int cublasDestroy_v2(void*);
int cublasSetStream_v2(void*, cudaStream_t);
int cublasGetStream_v2(void*, cudaStream_t*);
int cublasSetWorkspace_v2(void*, void*, std::size_t);
int cublasSetPointerMode_v2(void*, int);
int cublasSgemm_v2(void*, int, int, int, int, int, const float*, const float*, int, const float*,
                   int, const float*, float*, int);
int cublasSdot_v2(void*, int, const float*, int, const float*, int, float*);
int cublasLtMatrixLayoutCreate(void**, cudaDataType, std::uint64_t, std::uint64_t, std::int64_t);
int cublasLtMatrixLayoutInit_internal(void*, std::size_t, cudaDataType, std::uint64_t,
                                      std::uint64_t, std::int64_t);
int cublasLtMatrixLayoutSetAttribute(void*, int, const void*, std::size_t);
int cublasLtMatrixLayoutGetAttribute(void*, int, void*, std::size_t, std::size_t*);
int cublasLtMatrixLayoutDestroy(void*);
}

namespace {

constexpr int success = 0;
constexpr int not_initialized = 1;
constexpr int invalid_value = 7;

// cublasLtMatrixLayoutAttribute_t
constexpr int attribute_rows = 2;
constexpr int attribute_batch = 5;

struct handle {
  handle() { REQUIRE(cublasCreate_v2(&value) == success); }
  handle(const handle&) = delete;
  handle& operator=(const handle&) = delete;
  ~handle() { (void)cublasDestroy_v2(value); }
  void* value = nullptr;
};

}  // namespace

TEST_CASE("every cuBLAS handle is another one") {
  const handle handles[16];
  std::set<void*> different;
  for (const handle& one : handles) different.insert(one.value);
  REQUIRE(different.size() == 16);
}

TEST_CASE("a cuBLAS handle keeps its stream and refuses an unaligned workspace") {
  const handle cublas;
  cudaStream_t stream = nullptr;
  REQUIRE(cudaStreamCreate(&stream) == cudaSuccess);
  REQUIRE(cublasSetStream_v2(cublas.value, stream) == success);
  cudaStream_t got = nullptr;
  REQUIRE(cublasGetStream_v2(cublas.value, &got) == success);
  REQUIRE(got == stream);
  REQUIRE(cublasSetWorkspace_v2(cublas.value, reinterpret_cast<void*>(256), 1024) == success);
  REQUIRE(cublasSetWorkspace_v2(cublas.value, reinterpret_cast<void*>(16), 1024) == invalid_value);
  REQUIRE(cublasSetStream_v2(nullptr, stream) == not_initialized);
}

TEST_CASE("a product forgets what was uploaded where its result lies") {
  const handle cublas;
  float* memory = nullptr;
  REQUIRE(cudaMalloc(reinterpret_cast<void**>(&memory), 1024) == cudaSuccess);
  const float uploaded[4] = {1, 2, 3, 4};
  REQUIRE(cudaMemcpy(memory, uploaded, sizeof uploaded, cudaMemcpyHostToDevice) == cudaSuccess);
  REQUIRE(cudaMemcpy(memory + 4, uploaded, sizeof uploaded, cudaMemcpyHostToDevice) == cudaSuccess);
  const float one = 1;
  REQUIRE(cublasSgemm_v2(cublas.value, 0, 0, 2, 2, 2, &one, memory, 2, memory, 2, &one, memory + 4,
                         2) == success);
  float back[8];
  REQUIRE(cudaMemcpy(back, memory, 4 * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(back[3] == 4);
  REQUIRE(cudaMemcpy(back, memory + 4, 4 * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  REQUIRE(back[3] == 0);
  // A column of the result cannot be shorter than its rows.
  REQUIRE(cublasSgemm_v2(cublas.value, 0, 0, 2, 2, 2, &one, memory, 2, memory, 2, &one, memory + 4,
                         1) == invalid_value);
  REQUIRE(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("a sum is written to the host when the handle says that results are there") {
  const handle cublas;
  float result = 5;
  REQUIRE(cublasSdot_v2(cublas.value, 1, nullptr, 1, nullptr, 1, &result) == success);
  REQUIRE(result == 0);
  float on_device = 5;
  constexpr int device_pointers = 1;
  REQUIRE(cublasSetPointerMode_v2(cublas.value, device_pointers) == success);
  REQUIRE(cublasSdot_v2(cublas.value, 1, nullptr, 1, nullptr, 1, &on_device) == success);
  REQUIRE(on_device == 5);  // no host memory is touched
}

TEST_CASE("a cuBLASLt layout says what was set, in memory of either side") {
  void* made = nullptr;
  REQUIRE(cublasLtMatrixLayoutCreate(&made, CUDA_R_16F, 3, 4, 3) == success);
  std::uint64_t placed[8] = {};
  REQUIRE(cublasLtMatrixLayoutInit_internal(placed, sizeof placed, CUDA_R_16F, 7, 4, 7) == success);
  std::uint64_t rows = 0;
  std::size_t written = 0;
  REQUIRE(cublasLtMatrixLayoutGetAttribute(made, attribute_rows, &rows, sizeof rows, &written) ==
          success);
  REQUIRE(rows == 3);
  REQUIRE(written == sizeof rows);
  REQUIRE(cublasLtMatrixLayoutGetAttribute(placed, attribute_rows, &rows, sizeof rows, nullptr) ==
          success);
  REQUIRE(rows == 7);
  const std::int32_t batch = 9;
  REQUIRE(cublasLtMatrixLayoutSetAttribute(made, attribute_batch, &batch, sizeof batch) == success);
  std::int32_t got = 0;
  REQUIRE(cublasLtMatrixLayoutGetAttribute(made, attribute_batch, &got, sizeof got, nullptr) ==
          success);
  REQUIRE(got == 9);
  REQUIRE(cublasLtMatrixLayoutGetAttribute(made, attribute_batch, &got, 1, nullptr) ==
          invalid_value);
  REQUIRE(cublasLtMatrixLayoutDestroy(made) == success);
}
