// SPDX-License-Identifier: Apache-2.0
// Facts about a function that has no implementation of its own (out_parameters.def).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace memtrace::simulator {

enum class library : std::uint8_t {
  cuda,
  cudart,
  cublas,
  cudnn,
  cufft,
  curand,
  cusolver,
  cusparse,
  nccl,
  nvrtc,
  nvml,
  cupti,
  nvtx,
  nvshmem,
  cufile,
  nvjitlink,
  other
};

enum class answer : std::uint8_t {
  does_nothing,  // success; harmless on a simulated GPU, whose kernels do nothing either
  unsupported,   // its caller depends on what it would have returned
  text,          // returns a C string
  zero           // not a status: returns 0 or a null pointer, or nothing
};

enum class output : std::uint8_t {
  none,
  handle,        // 8 bytes, unique in the process and not null
  small_handle,  // int, unique and not 0
  size,          // size_t 0
  integer,       // int 0
  real,          // double 0
  single,        // float 0
  pointer,       // null
  data           // an array on the device: computed, hence unknown from now on
};

struct out_parameter {
  std::uint8_t slot = 0;  // among the integer arguments: 0 to 5 registers, from 6 on stack words
  output what = output::none;
};

inline constexpr std::size_t most_outputs = 8;

struct function_facts {
  std::string_view name;
  answer does;
  std::array<out_parameter, most_outputs> outputs{};
};

// Null for a name that the table does not have.
[[nodiscard]] const function_facts* find_facts(std::string_view name);

// By the name's beginning alone.
[[nodiscard]] library library_of(std::string_view name);

// The library's own "not supported", as the value its functions return.
[[nodiscard]] std::uint64_t not_supported(library of);

}  // namespace memtrace::simulator
