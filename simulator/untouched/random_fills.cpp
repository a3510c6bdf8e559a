// SPDX-License-Identifier: Apache-2.0
//
// Tensor.normal_ and Tensor.uniform_ of large tensors on the host, which is how weights are
// initialised. Where the program itself asks for them, their values are left out: the tensor reads
// as zeros and has no pages. torch.randn, torch.rand and others that make a tensor fill it for
// real, because what programs take for data is made by them.
#include <cmath>

#include "simulator/untouched/exported.h"
#include "simulator/untouched/generator.h"
#include "simulator/untouched/tensor.h"
#include "simulator/untouched/torch_function.h"
#include "simulator/untouched/torch_symbols.h"
#include "simulator/untouched/zero_memory.h"

using namespace memtrace::simulator::untouched;

namespace {

constinit torch_function<random_fill> call_normal{MEMTRACE_NAME_OF(TORCH_CALL_NORMAL)};
constinit torch_function<random_fill> call_uniform{MEMTRACE_NAME_OF(TORCH_CALL_UNIFORM)};
constinit torch_function<random_fill> real_normal{MEMTRACE_NAME_OF(TORCH_NORMAL)};
constinit torch_function<random_fill> real_uniform{MEMTRACE_NAME_OF(TORCH_UNIFORM)};

// Whether the innermost call of PyTorch's that fills comes from the program.
thread_local constinit bool is_the_programs = false;

class asked_by {
 public:
  explicit asked_by(const void* caller) : before_(is_the_programs) {
    is_the_programs = !is_in_torch(caller);
  }
  ~asked_by() { is_the_programs = before_; }
  asked_by(const asked_by&) = delete;
  asked_by& operator=(const asked_by&) = delete;

 private:
  bool before_;
};

std::uint64_t numbers_of(std::int64_t elements, scalar_type type) {
  return static_cast<std::uint64_t>(elements) * (type == scalar_type::wide ? 2 : 1);
}

// From 16 elements on; what is left of a multiple of 16 is drawn again, with those before it.
std::uint64_t normal_draws(std::int64_t elements, scalar_type type) {
  return numbers_of(elements % 16 == 0 ? elements : elements + 16, type);
}

bool is_floating(scalar_type type) {
  return type == scalar_type::half || type == scalar_type::real || type == scalar_type::wide ||
         type == scalar_type::bfloat16;
}

// What PyTorch refuses for any of the types is left to it.
constexpr double largest_half = 65504;

// What is looked up and tried out once is so even where nothing is left out: it moves the program's
// own memory.
bool left_out(random_fill* real, draws_for* draws, void* tensor, const void* generator) {
  host_tensor filled;
  if (!is_the_programs || !large_on_host(tensor, filled) || !filled.is_contiguous ||
      !is_floating(filled.type) || !can_skip(real, draws, filled.type)) {
    return false;
  }
  return is_on && make_zero(filled.data, filled.bytes) && skip_fill(draws, filled, generator);
}

}  // namespace

MEMTRACE_EXPORTED void* TORCH_CALL_NORMAL(void* tensor, double mean, double deviation,
                                          const void* generator) {
  const asked_by program(__builtin_return_address(0));
  return call_normal.get()(tensor, mean, deviation, generator);
}

MEMTRACE_EXPORTED void* TORCH_CALL_UNIFORM(void* tensor, double from, double to,
                                           const void* generator) {
  const asked_by program(__builtin_return_address(0));
  return call_uniform.get()(tensor, from, to, generator);
}

MEMTRACE_EXPORTED void* TORCH_NORMAL(void* tensor, double mean, double deviation,
                                     const void* generator) {
  random_fill* const real = real_normal.get();
  if (std::isfinite(mean) && deviation >= 0 && std::isfinite(deviation) &&
      left_out(real, normal_draws, tensor, generator)) {
    return tensor;
  }
  return real(tensor, mean, deviation, generator);
}

MEMTRACE_EXPORTED void* TORCH_UNIFORM(void* tensor, double from, double to, const void* generator) {
  random_fill* const real = real_uniform.get();
  if (-largest_half <= from && from <= to && to <= largest_half && to - from <= largest_half &&
      left_out(real, numbers_of, tensor, generator)) {
    return tensor;
  }
  return real(tensor, from, to, generator);
}
