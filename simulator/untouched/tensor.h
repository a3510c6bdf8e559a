// SPDX-License-Identifier: Apache-2.0
//
// The properties of a PyTorch tensor, by the functions that PyTorch exports for compiled models, in
// C (torch/csrc/inductor/aoti_torch/c/shim.h).
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::simulator::untouched {

// Values of c10::ScalarType.
enum class scalar_type : std::int32_t { int64 = 4, half = 5, real = 6, wide = 7, bfloat16 = 15 };

// An at::Tensor on the host that has a memory of its own and no holes in it.
struct host_tensor {
  void* data = nullptr;
  std::int64_t elements = 0;
  std::size_t bytes = 0;
  scalar_type type{};
  bool is_contiguous = false;  // in the order of its dimensions
};

// Uploads of at most this size are remembered by the simulator and read back on the device: what is
// in them matters (docs/simulator.md, contents.h).
inline constexpr std::size_t smallest = (1 << 20) + 1;

// False where it is smaller than `smallest`, on a device, no dense tensor of usual elements, or
// where this PyTorch cannot say.
[[nodiscard]] bool large_on_host(const void* tensor, host_tensor& found) noexcept;

// The same of memory that a tensor only reads: it may have holes, or name elements twice. `bytes`
// is what lies between its first and its last.
[[nodiscard]] bool large_span_on_host(const void* tensor, host_tensor& found) noexcept;

// The value of a tensor of no dimensions on the host: what the program wrote as a number.
[[nodiscard]] bool number_in(const void* tensor, double& value) noexcept;

[[nodiscard]] bool have_same_sizes(const void* one, const void* other) noexcept;

// An at::Tensor of one dimension on the host.
class vector {
 public:
  vector(std::int64_t elements, scalar_type type) noexcept;
  ~vector();
  vector(const vector&) = delete;
  vector& operator=(const vector&) = delete;

  [[nodiscard]] void* tensor() const noexcept { return made_; }  // nullptr where it cannot be made

 private:
  void* made_ = nullptr;
};

}  // namespace memtrace::simulator::untouched
