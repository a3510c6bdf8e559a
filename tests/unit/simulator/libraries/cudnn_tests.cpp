// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tests/unit/catch.h"

extern "C" {
std::size_t cudnnGetVersion();
int cudnnGetProperty(int, int*);
int cudnnCreate(void**);
int cudnnDestroy(void*);
int cudnnBackendCreateDescriptor(int, void**);
int cudnnBackendDestroyDescriptor(void*);
int cudnnBackendFinalize(void*);
int cudnnBackendSetAttribute(void*, int, int, std::int64_t, const void*);
int cudnnBackendGetAttribute(void*, int, int, std::int64_t, std::int64_t*, void*);
int cudnnCreateTensorDescriptor(void**);
int cudnnDestroyTensorDescriptor(void*);
int cudnnSetTensorNdDescriptor(void*, int, int, const int*, const int*);
int cudnnGetTensorNdDescriptor(void*, int, int*, int*, int*, int*);
int cudnnSetTensor4dDescriptor(void*, int, int, int, int, int, int);
int cudnnGetTensorSizeInBytes(void*, std::size_t*);
int cudnnCreateRNNDescriptor(void**);
int cudnnDestroyRNNDescriptor(void*);
int cudnnSetRNNDescriptor_v8(void*, int, int, int, int, int, int, int, int, int, int, int, int,
                             void*, unsigned);
int cudnnGetRNNWeightSpaceSize(void*, void*, std::size_t*);
int cudnnGetRNNWeightParams(void*, void*, int, std::size_t, const void*, int, void*, void**, void*,
                            void**);
int cudnnCreateRNNDataDescriptor(void**);
int cudnnDestroyRNNDataDescriptor(void*);
int cudnnSetRNNDataDescriptor(void*, int, int, int, int, int, const int*, void*);
int cudnnGetRNNTempSpaceSizes(void*, void*, int, void*, std::size_t*, std::size_t*);
}

namespace {

constexpr int success = 0;
constexpr int bad_param = 2000;

// Declared in cudnn_graph.h.
constexpr int tensor_kind = 17;
constexpr int heuristics_kind = 4;
constexpr int config_kind = 3;
constexpr int engine_kind = 2;
constexpr int plan_kind = 5;
constexpr int type_int64 = 3;
constexpr int type_float = 4;
constexpr int type_descriptor = 15;
constexpr int attribute_dimensions = 902;
constexpr int attribute_results = 202;
constexpr int attribute_engine = 300;
constexpr int attribute_knob_choices = 302;
constexpr int attribute_config = 401;
constexpr int attribute_workspace = 402;
constexpr int attribute_notes = 1303;

constexpr int data_float = 0;
constexpr int data_half = 2;

struct descriptor {
  explicit descriptor(int kind) { REQUIRE(cudnnBackendCreateDescriptor(kind, &value) == success); }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { (void)cudnnBackendDestroyDescriptor(value); }
  void* value = nullptr;
};

}  // namespace

TEST_CASE("cuDNN's version is the one that the wheel wants, in every spelling") {
  REQUIRE(cudnnGetVersion() == (CUDART_VERSION >= 13000 ? 91900 : 90100));
  int major = 0;
  int minor = 0;
  REQUIRE(cudnnGetProperty(0, &major) == success);
  REQUIRE(cudnnGetProperty(1, &minor) == success);
  REQUIRE(static_cast<std::size_t>(major * 10000 + minor * 100) == cudnnGetVersion());
}

TEST_CASE("a backend descriptor says what was set, once it is final") {
  const descriptor tensor(tensor_kind);
  const std::int64_t sizes[] = {2, 3, 5};
  REQUIRE(cudnnBackendSetAttribute(tensor.value, attribute_dimensions, type_int64, 3, sizes) ==
          success);
  std::int64_t count = -1;
  std::int64_t got[2] = {};
  REQUIRE(cudnnBackendGetAttribute(tensor.value, attribute_dimensions, type_int64, 2, &count,
                                   got) != success);
  REQUIRE(cudnnBackendFinalize(tensor.value) == success);
  REQUIRE(cudnnBackendGetAttribute(tensor.value, attribute_dimensions, type_int64, 0, &count,
                                   nullptr) == success);
  REQUIRE(count == 3);
  REQUIRE(cudnnBackendGetAttribute(tensor.value, attribute_dimensions, type_int64, 2, &count,
                                   got) == success);
  REQUIRE(count == 3);
  REQUIRE(got[1] == 3);
  REQUIRE(cudnnBackendGetAttribute(tensor.value, attribute_dimensions, type_float, 2, &count,
                                   got) != success);
  REQUIRE(cudnnBackendSetAttribute(tensor.value, attribute_dimensions, type_int64, 3, sizes) !=
          success);
}

TEST_CASE("heuristics give one engine configuration, with an engine and without knobs") {
  const descriptor heuristics(heuristics_kind);
  REQUIRE(cudnnBackendFinalize(heuristics.value) == success);
  std::int64_t count = 0;
  REQUIRE(cudnnBackendGetAttribute(heuristics.value, attribute_results, type_descriptor, 0, &count,
                                   nullptr) == success);
  REQUIRE(count == 1);
  descriptor config(config_kind);
  REQUIRE(cudnnBackendGetAttribute(heuristics.value, attribute_results, type_descriptor, 1, &count,
                                   &config.value) == success);
  descriptor engine(engine_kind);
  REQUIRE(cudnnBackendGetAttribute(config.value, attribute_engine, type_descriptor, 1, &count,
                                   &engine.value) == success);
  REQUIRE(count == 1);
  REQUIRE(cudnnBackendGetAttribute(config.value, attribute_knob_choices, type_descriptor, 0, &count,
                                   nullptr) == success);
  REQUIRE(count == 0);
  REQUIRE(cudnnBackendGetAttribute(engine.value, attribute_notes, 11, 0, &count, nullptr) ==
          success);
  REQUIRE(count == 0);
}

TEST_CASE("a plan keeps its configuration when the program destroys its own descriptor") {
  const descriptor plan(plan_kind);
  {
    descriptor config(config_kind);
    REQUIRE(cudnnBackendSetAttribute(plan.value, attribute_config, type_descriptor, 1,
                                     &config.value) != success);
    REQUIRE(cudnnBackendFinalize(config.value) == success);
    REQUIRE(cudnnBackendSetAttribute(plan.value, attribute_config, type_descriptor, 1,
                                     &config.value) == success);
  }
  REQUIRE(cudnnBackendFinalize(plan.value) == success);
  descriptor again(config_kind);
  std::int64_t count = 0;
  REQUIRE(cudnnBackendGetAttribute(plan.value, attribute_config, type_descriptor, 1, &count,
                                   &again.value) == success);
  REQUIRE(count == 1);
  std::int64_t workspace = -1;
  REQUIRE(cudnnBackendGetAttribute(plan.value, attribute_workspace, type_int64, 1, &count,
                                   &workspace) == success);
  REQUIRE(workspace == 0);
}

TEST_CASE("tensor descriptors keep sizes and strides, and make them from a format") {
  void* tensor = nullptr;
  REQUIRE(cudnnCreateTensorDescriptor(&tensor) == success);
  constexpr int channels_last = 1;
  REQUIRE(cudnnSetTensor4dDescriptor(tensor, channels_last, data_half, 2, 3, 4, 5) == success);
  int type = -1;
  int dimensions = 0;
  int sizes[4];
  int strides[4];
  REQUIRE(cudnnGetTensorNdDescriptor(tensor, 4, &type, &dimensions, sizes, strides) == success);
  REQUIRE(type == data_half);
  REQUIRE(dimensions == 4);
  REQUIRE(std::vector<int>(sizes, sizes + 4) == std::vector<int>{2, 3, 4, 5});
  REQUIRE(std::vector<int>(strides, strides + 4) == std::vector<int>{60, 1, 15, 3});
  std::size_t bytes = 0;
  REQUIRE(cudnnGetTensorSizeInBytes(tensor, &bytes) == success);
  REQUIRE(bytes == 2 * 3 * 4 * 5 * 2);
  const int wide_sizes[] = {2, 2};
  const int wide_strides[] = {10, 1};
  REQUIRE(cudnnSetTensorNdDescriptor(tensor, data_float, 2, wide_sizes, wide_strides) == success);
  REQUIRE(cudnnGetTensorSizeInBytes(tensor, &bytes) == success);
  REQUIRE(bytes == 12 * 4);  // from the first to the last element
  REQUIRE(cudnnDestroyTensorDescriptor(tensor) == success);
}

namespace {

// An LSTM of two layers in both directions: input 3, hidden 5, projection 2; half precision.
struct network {
  network() {
    REQUIRE(cudnnCreateRNNDescriptor(&rnn) == success);
    REQUIRE(cudnnCreateTensorDescriptor(&tensor) == success);
    REQUIRE(cudnnCreateRNNDataDescriptor(&data) == success);
    constexpr int lstm = 2;
    constexpr int double_bias = 2;
    REQUIRE(cudnnSetRNNDescriptor_v8(rnn, 0, lstm, double_bias, 1, 0, data_half, data_float, 0, 3,
                                     5, 2, 2, nullptr, 0) == success);
  }
  network(const network&) = delete;
  network& operator=(const network&) = delete;
  ~network() {
    (void)cudnnDestroyRNNDescriptor(rnn);
    (void)cudnnDestroyTensorDescriptor(tensor);
    (void)cudnnDestroyRNNDataDescriptor(data);
  }
  void* rnn = nullptr;
  void* tensor = nullptr;
  void* data = nullptr;
};

}  // namespace

TEST_CASE("a recurrent network's parameters are described in bytes of its precision") {
  const network lstm;
  std::size_t bytes = 0;
  REQUIRE(cudnnGetRNNWeightSpaceSize(nullptr, lstm.rnn, &bytes) == success);
  REQUIRE(bytes == 640 * 2);  // see rnn_layout_tests.cpp
  char* const space = reinterpret_cast<char*>(0x1000);
  void* at = nullptr;
  REQUIRE(cudnnGetRNNWeightParams(nullptr, lstm.rnn, 1, bytes, space, 8, lstm.tensor, &at, nullptr,
                                  nullptr) == success);
  REQUIRE(static_cast<char*>(at) == space + (2 * 110 - 10) * 2);
  int type = 0;
  int dimensions = 0;
  int sizes[3];
  int strides[3];
  REQUIRE(cudnnGetTensorNdDescriptor(lstm.tensor, 3, &type, &dimensions, sizes, strides) ==
          success);
  REQUIRE(dimensions == 3);
  REQUIRE(std::vector<int>(sizes, sizes + 3) == std::vector<int>{1, 2, 5});
  // A projection has no bias.
  REQUIRE(cudnnGetRNNWeightParams(nullptr, lstm.rnn, 1, bytes, space, 8, nullptr, nullptr,
                                  lstm.tensor, &at) == success);
  REQUIRE(at == nullptr);
  REQUIRE(cudnnGetRNNWeightParams(nullptr, lstm.rnn, 1, bytes - 1, space, 8, lstm.tensor, &at,
                                  nullptr, nullptr) == bad_param);
}

TEST_CASE("a packed batch needs memory for its steps alone, and inference no reserve") {
  const network lstm;
  constexpr int packed = 1;
  constexpr int unpacked = 0;
  const int lengths[] = {10, 4, 2};
  const auto reserve = [&](int layout, int mode) {
    REQUIRE(cudnnSetRNNDataDescriptor(lstm.data, data_half, layout, 10, 3, 3, lengths, nullptr) ==
            success);
    std::size_t work = 0;
    std::size_t bytes = 0;
    REQUIRE(cudnnGetRNNTempSpaceSizes(nullptr, lstm.rnn, mode, lstm.data, &work, &bytes) ==
            success);
    REQUIRE(work > 0);
    return bytes;
  };
  constexpr int inference = 0;
  constexpr int training = 1;
  REQUIRE(reserve(unpacked, inference) == 0);
  REQUIRE(reserve(packed, training) * 30 == reserve(unpacked, training) * 16);
  const int too_long[] = {11, 4, 2};
  REQUIRE(cudnnSetRNNDataDescriptor(lstm.data, data_half, packed, 10, 3, 3, too_long, nullptr) ==
          bad_param);
}

TEST_CASE("every cuDNN handle is another one") {
  void* one = nullptr;
  void* other = nullptr;
  REQUIRE(cudnnCreate(&one) == success);
  REQUIRE(cudnnCreate(&other) == success);
  REQUIRE(one != other);
  REQUIRE(cudnnDestroy(one) == success);
  REQUIRE(cudnnDestroy(other) == success);
}
