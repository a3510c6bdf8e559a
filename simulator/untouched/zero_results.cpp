// SPDX-License-Identifier: Apache-2.0
//
// Results that are zero because memory that nobody wrote is zero: fills with zero, copies and
// conversions on the host, and the operations by which torch.nn.init.trunc_normal_ goes on. Exact:
// the program gets the values that PyTorch would compute, but a result of zeros gets no pages.
#include <cmath>
#include <cstdint>

#include "simulator/untouched/tensor.h"
#include "simulator/untouched/torch_function.h"
#include "simulator/untouched/torch_symbols.h"
#include "simulator/untouched/zero_memory.h"

using namespace memtrace::simulator::untouched;

namespace {

constinit torch_function<void*(void*)> real_zero{MEMTRACE_NAME_OF(TORCH_ZERO)};
constinit torch_function<void*(void*, const void*, bool)> real_copy{MEMTRACE_NAME_OF(TORCH_COPY)};
constinit torch_function<void(void*, const void*, const void*)> real_erfinv{
    MEMTRACE_NAME_OF(TORCH_ERFINV)};
constinit torch_function<void(void*, const void*, const void*, const void*)> real_mul{
    MEMTRACE_NAME_OF(TORCH_MUL)};
constinit torch_function<void(void*, const void*, const void*, const void*, const void*)> real_add{
    MEMTRACE_NAME_OF(TORCH_ADD)};
constinit torch_function<void(void*, const void*, const void*, const void*, const void*)>
    real_clamp{MEMTRACE_NAME_OF(TORCH_CLAMP)};

// Makes `to` zeros where all of `from` is; false where nothing was done.
bool zeros_stay(const void* from, const void* to) {
  host_tensor result, source;
  if (!large_on_host(to, result) || !large_span_on_host(from, source)) return false;
  if (!is_on || !is_zero(source.data, source.bytes)) return false;
  return source.data == result.data || make_zero(result.data, result.bytes);
}

// c10::Scalar: which kind it is, and behind that, at a multiple of 16, its value.
struct scalar {
  enum kind : std::int32_t { wide = 0, int64 = 1 };
  kind is;
  alignas(16) union {
    double real;
    std::int64_t whole;
  } value;
};

bool value_of(const void* of, double& value) {
  const auto& number = *static_cast<const scalar*>(of);
  if (number.is == scalar::wide) {
    value = number.value.real;
  } else if (number.is == scalar::int64) {
    value = static_cast<double>(number.value.whole);
  } else {
    return false;
  }
  return true;
}

}  // namespace

MEMTRACE_EXPORTED void* TORCH_ZERO(void* tensor) {
  host_tensor filled;
  if (large_on_host(tensor, filled) && is_on && make_zero(filled.data, filled.bytes)) return tensor;
  return real_zero.get()(tensor);
}

MEMTRACE_EXPORTED void* TORCH_COPY(void* to, const void* from, bool non_blocking) {
  if (have_same_sizes(from, to) && zeros_stay(from, to)) return to;
  return real_copy.get()(to, from, non_blocking);
}

MEMTRACE_EXPORTED void TORCH_ERFINV(void* operation, const void* from, const void* to) {
  if (!zeros_stay(from, to)) real_erfinv.get()(operation, from, to);
}

MEMTRACE_EXPORTED void TORCH_MUL(void* operation, const void* from, const void* by,
                                 const void* to) {
  double factor = -1;
  // Not by a negative number, which makes a negative zero.
  const bool is_zero = number_in(by, factor) && factor >= 0 && std::isfinite(factor);
  if (!is_zero || !zeros_stay(from, to)) real_mul.get()(operation, from, by, to);
}

MEMTRACE_EXPORTED void TORCH_ADD(void* operation, const void* from, const void* added,
                                 const void* times, const void* to) {
  double number = 1;
  const bool adds_zero = number_in(added, number) && number == 0;
  if (!adds_zero || !zeros_stay(from, to)) real_add.get()(operation, from, added, times, to);
}

// `least` and `most` are optional, by their places.
MEMTRACE_EXPORTED void TORCH_CLAMP(void* operation, const void* from, const void* least,
                                   const void* most, const void* to) {
  double low = 0, high = 0;
  const bool holds_zero = (least == nullptr || (value_of(least, low) && low <= 0)) &&
                          (most == nullptr || (value_of(most, high) && high >= 0));
  if (!holds_zero || !zeros_stay(from, to)) real_clamp.get()(operation, from, least, most, to);
}
