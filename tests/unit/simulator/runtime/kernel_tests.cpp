// SPDX-License-Identifier: Apache-2.0
//
// How launches of PyTorch's kernels change the known contents of device memory. The names are those
// that PyTorch 2.11 registers; the arguments have the layout its launchers give them.
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

extern "C" void __cudaRegisterFunction(void**, const char*, char*, const char*, int, void*, void*,
                                       void*, void*, int*);

namespace {

// Kernels are told apart by address: each name gets one of its own.
const void* kernel(const char* name) {
  static std::array<char, 64> addresses;
  static std::size_t used = 0;
  const char* const address = &addresses.at(used++);
  __cudaRegisterFunction(nullptr, address, nullptr, name, -1, nullptr, nullptr, nullptr, nullptr,
                         nullptr);
  return address;
}

template <typename... Arguments>
void run(const void* function, Arguments&... arguments) {
  void* pointers[] = {&arguments...};
  REQUIRE(cudaLaunchKernel(function, {1, 1, 1}, {128, 1, 1}, pointers, 0, nullptr) == cudaSuccess);
}

template <typename Value>
std::vector<Value> download(const void* from, std::size_t count) {
  std::vector<Value> result(count);
  REQUIRE(cudaMemcpy(result.data(), from, count * sizeof(Value), cudaMemcpyDeviceToHost) ==
          cudaSuccess);
  return result;
}

template <typename Value>
void upload(void* to, const std::vector<Value>& data) {
  REQUIRE(cudaMemcpy(to, data.data(), data.size() * sizeof(Value), cudaMemcpyHostToDevice) ==
          cudaSuccess);
}

const void* fill_long() {
  static const void* const one = kernel(
      "_ZN2at6native29vectorized_elementwise_kernelILi2ENS0_"
      "11FillFunctorIlEESt5arrayIPcLm1EEEEviT0_"
      "T1_");
  return one;
}

const void* any_of_bool() {
  static const void* const one = kernel(
      "_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIbNS0_14func_wrapper_tIbZZZNS0_14or_"
      "kernel_cudaERNS_14TensorIteratorEENKUlvE_clEvENKUlvE10_clEvEUlbbE_EEjbLi4ELi4EEEEEvT1_");
  return one;
}

// at::native::ReduceOp of a bool operation. What is not set here is 0xff, as if never written.
struct reduction {
  reduction() { std::memset(static_cast<void*>(this), 0xff, sizeof *this); }

  char operation;
  bool neutral;
  int element_size;
  int inputs;
  int outputs;
  char configuration_and_calculators[964];
  const void* source;
  void* destination[2];
  void* buffers[3];
  std::int64_t base;
  bool accumulates;
  bool is_final;
  int output_count;
  char stack[256];
};

reduction any_of(const void* from, void* to, int inputs) {
  reduction result;
  result.element_size = 1;
  result.inputs = inputs;
  result.outputs = 1;
  result.source = from;
  result.destination[0] = to;
  result.destination[1] = nullptr;
  std::fill(result.buffers, result.buffers + 3, nullptr);
  result.base = 0;
  result.accumulates = false;
  result.is_final = true;
  result.output_count = 1;
  return result;
}

}  // namespace

TEST_CASE("torch.full's value comes back", "[kernel]") {
  const device_buffer memory(4096);
  int count = 10;
  std::int64_t value = -3;
  std::array<void*, 1> out{memory.address};
  run(fill_long(), count, value, out);
  CHECK(download<std::int64_t>(memory.address, 10) == std::vector<std::int64_t>(10, -3));
  CHECK(download<std::int64_t>(memory.at(32), 1) == std::vector<std::int64_t>(1, -3));
  CHECK(download<std::int64_t>(memory.at(80), 1) == std::vector<std::int64_t>(1, 0));
}

TEST_CASE("what an elementwise kernel writes is no longer known", "[kernel]") {
  static const void* const exp = kernel(
      "_ZN2at6native29vectorized_elementwise_kernelILi4EZZZNS0_15exp_kernel_cudaERNS_"
      "18TensorIteratorBaseEENKUlvE0_clEvENKUlvE0_clEvEUlfE_St5arrayIPcLm2EEEEviT0_T1_");
  const device_buffer memory(4096);
  upload<float>(memory.address, {1, 2, 3});
  upload<float>(memory.at(512), {4, 5, 6});
  int count = 3;
  char functor = 0;
  std::array<void*, 2> pointers{memory.at(512), memory.address};
  run(exp, count, functor, pointers);
  CHECK(download<float>(memory.at(512), 3) == std::vector<float>(3, 0));
  CHECK(download<float>(memory.address, 3) == std::vector<float>{1, 2, 3});
}

TEST_CASE("pointers to what is not const are written", "[kernel]") {
  static const void* const loss = kernel("_Z4lossPfPKfPKll");
  const device_buffer memory(4096);
  upload<float>(memory.address, {1});
  upload<float>(memory.at(512), {2});
  void* out = memory.address;
  const void* in = memory.at(512);
  const void* target = memory.at(512);
  std::int64_t count = 1;
  run(loss, out, in, target, count);
  CHECK(download<float>(memory.address, 1) == std::vector<float>{0});
  CHECK(download<float>(memory.at(512), 1) == std::vector<float>{2});
}

TEST_CASE("structures that mention a fill make it unknown, an upload stays", "[kernel]") {
  static const void* const random = kernel("_Z6randoml4dataS_");
  const device_buffer memory(4096);
  upload<float>(memory.at(0), {1});
  REQUIRE(cudaMemset(memory.at(512), 1, 4) == cudaSuccess);
  std::int64_t count = 1;
  struct {
    void* address;
    void* other;
  } data{memory.at(0), nullptr}, result{nullptr, memory.at(512)};
  run(random, count, data, result);
  CHECK(download<float>(memory.at(0), 1) == std::vector<float>{1});
  CHECK(download<int>(memory.at(512), 1) == std::vector<int>{0});
}

TEST_CASE("the scale of mixed precision survives its update", "[kernel]") {
  static const void* const update = kernel(
      "_ZN2at6native56_GLOBAL__N__00000000_13_AmpKernels_cu_0000000028amp_update_scale_cuda_"
      "kernelEPfPiPKfddi");
  const device_buffer memory(4096);
  upload<float>(memory.address, {65536});
  void* scale = memory.address;
  void* tracker = memory.at(512);
  const void* found = memory.at(1024);
  double growth = 2, backoff = 0.5;
  int interval = 2000;
  run(update, scale, tracker, found, growth, backoff, interval);
  CHECK(download<float>(memory.address, 1) == std::vector<float>{65536});
}

TEST_CASE("truth values are computed, with casts between types", "[kernel]") {
  static const void* const bit_and = kernel(
      "_ZN2at6native27unrolled_elementwise_kernelINS0_13BinaryFunctorIlllNS0_"
      "17BitwiseAndFunctorIlEE"
      "EESt5arrayIPcLm3EELi4E23TrivialOffsetCalculatorILi2EjES9_ILi1EjENS0_"
      "6memory12LoadWithCastILi2"
      "EEENSC_13StoreWithCastILi1EEEEEviT_T0_T2_T3_T4_T5_");
  static const void* const bit_not = kernel(
      "_ZN2at6native29vectorized_elementwise_kernelILi4EZNS0_23bitwise_not_kernel_cudaERNS_"
      "18TensorIteratorBaseEEUlbE_St5arrayIPcLm2EEEEviT0_T1_");
  static const void* const equals = kernel(
      "_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_13AUnaryFunctorIllbNS0_51_GLOBAL__N__"
      "28ce311f_18_CompareEQKernel_cu_d8008c9616CompareEqFunctorIlEEEESt5arrayIPcLm2EEEEviT0_T1_");
  const device_buffer memory(4096);
  upload<std::int64_t>(memory.at(0), {1, 1, 1});
  upload<unsigned char>(memory.at(512), {0, 1, 0});
  int count = 3;
  char none = 0;
  std::array<void*, 2> negation{memory.at(1024), memory.at(512)};
  run(bit_not, count, none, negation);
  CHECK(download<unsigned char>(memory.at(1024), 3) == std::vector<unsigned char>{1, 0, 1});

  struct {
    std::int8_t types[2] = {4, 11};  // Long, Bool
    std::uint32_t sizes[2] = {8, 1};
  } loads;
  struct {
    std::int8_t types[1] = {4};
    std::uint32_t sizes[1] = {8};
  } stores;
  std::array<void*, 3> conjunction{memory.at(1536), memory.at(0), memory.at(1024)};
  run(bit_and, count, none, conjunction, none, none, loads, stores);
  CHECK(download<std::int64_t>(memory.at(1536), 3) == std::vector<std::int64_t>{1, 0, 1});

  struct {
    int which = 0;  // equal
    std::int64_t scalar = 1;
  } is_one;
  std::array<void*, 2> comparison{memory.at(2048), memory.at(1536)};
  run(equals, count, is_one, comparison);
  CHECK(download<unsigned char>(memory.at(2048), 3) == std::vector<unsigned char>{1, 0, 1});
}

TEST_CASE("reductions of small tensors are computed, of large ones forgotten", "[kernel]") {
  const device_buffer memory(1 << 20);
  upload<unsigned char>(memory.at(0), {0, 0, 1});
  upload<unsigned char>(memory.at(512), {1});
  const auto any = [&](int inputs) {
    reduction functor = any_of(memory.at(0), memory.at(512), inputs);
    run(any_of_bool(), functor);
    return download<unsigned char>(memory.at(512), 1).front();
  };
  CHECK(any(2) == 0);
  CHECK(any(3) == 1);
  CHECK(any(100'000) == 0);
}

TEST_CASE("strided kernels write to the first of their tensors", "[kernel]") {
  static const void* const copy = kernel(
      "_ZN2at6native18elementwise_kernelILi128ELi4EZNS0_22gpu_kernel_impl_nocastINS0_"
      "13AUnaryFunctor"
      "IbbbNS0_16BitwiseOrFunctorIbEEEEEEvRNS_18TensorIteratorBaseERKT_EUliE_EEviT1_");
  const device_buffer memory(4096);
  upload<float>(memory.at(0), {1});
  upload<float>(memory.at(512), {2});
  struct {
    char calculator[504];
    void* tensors[2];
    char stack[600] = {};
  } functor;
  std::memset(functor.calculator, 0xff, sizeof functor.calculator);
  functor.tensors[0] = memory.at(512);
  functor.tensors[1] = memory.at(0);
  int count = 1;
  run(copy, count, functor);
  CHECK(download<float>(memory.at(0), 1) == std::vector<float>{1});
  CHECK(download<float>(memory.at(512), 1) == std::vector<float>{0});
}

TEST_CASE("a captured fill happens at every launch of the graph", "[kernel]") {
  const device_buffer memory(4096);
  const stream one;
  int count = 2;
  std::int64_t value = 9;
  std::array<void*, 1> out{memory.address};
  void* arguments[] = {&count, &value, &out};
  REQUIRE(cudaStreamBeginCapture(one.handle, cudaStreamCaptureModeGlobal) == cudaSuccess);
  REQUIRE(cudaLaunchKernel(fill_long(), {1, 1, 1}, {1, 1, 1}, arguments, 0, one.handle) ==
          cudaSuccess);
  value = 1;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaStreamEndCapture(one.handle, &graph) == cudaSuccess);
  REQUIRE(cudaGraphInstantiateWithFlags(&exec, graph, 0) == cudaSuccess);
  for (int i = 0; i < 2; ++i) {
    REQUIRE(cudaMemset(memory.address, 0, 16) == cudaSuccess);
    REQUIRE(cudaGraphLaunch(exec, one.handle) == cudaSuccess);
    CHECK(download<std::int64_t>(memory.address, 2) == std::vector<std::int64_t>{9, 9});
  }
  REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
}
