// SPDX-License-Identifier: Apache-2.0
//
// Tensor.normal_ and Tensor.uniform_ of large tensors on the host, which is how weights are
// initialised. Where the program itself asks for them, their values are left out: the tensor reads
// as zeros and has no pages. torch.randn, torch.rand and others that make a tensor fill it for
// real, because what programs take for data is made by them.
#include <array>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "simulator/untouched/mersenne_twister.h"
#include "simulator/untouched/tensor.h"
#include "simulator/untouched/torch_function.h"
#include "simulator/untouched/torch_symbols.h"
#include "simulator/untouched/zero_memory.h"

// The random numbers of PyTorch on the CPU.
namespace memtrace::simulator::untouched {
namespace {

// at::native::normal_ and uniform_ as the ABI has them: the tensor, two numbers, and the place of a
// std::optional<at::Generator>. The tensor comes back.
using random_fill = void*(void*, double, double, const void*);

// How many numbers of 32 bits one such function draws for so many elements.
using draws_for = std::uint64_t(std::int64_t elements, scalar_type type);

// at::Generator: the address of its implementation. std::optional of one: that, and whether it is.
struct optional_generator {
  void* implementation;
  bool is_given;
};

constinit torch_function<void(mersenne_twister*, void*)> get_engine{MEMTRACE_NAME_OF(TORCH_ENGINE)};
constinit torch_function<void(void*, mersenne_twister)> set_engine{
    MEMTRACE_NAME_OF(TORCH_SET_ENGINE)};
constinit torch_function<void* const*()> default_generator{
    MEMTRACE_NAME_OF(TORCH_DEFAULT_GENERATOR)};

bool has_all_functions() noexcept {
  return get_engine.get() != nullptr && set_engine.get() != nullptr &&
         default_generator.get() != nullptr;
}

// Its class, by its table of virtual functions.
const void* class_of(const void* implementation) noexcept {
  return *static_cast<const void* const*>(implementation);
}

// Draws from the usual generator, and sets it back.
bool draws_as_expected(random_fill* real, draws_for* draws, scalar_type type) noexcept {
  void* const usual = *default_generator.get()();
  mersenne_twister before, drawn;
  get_engine.get()(&before, usual);
  if (!before.is_valid()) return false;
  bool as_expected = true;
  for (const std::int64_t elements : {16, 53, 1003}) {
    const vector filled(elements, type);
    if (filled.tensor() == nullptr) return false;
    mersenne_twister expected = before;
    expected.skip(draws(elements, type));
    const optional_generator none{nullptr, false};
    real(filled.tensor(), 0.0, 1.0, &none);
    get_engine.get()(&drawn, usual);
    as_expected &=
        expected.left == drawn.left && expected.next == drawn.next && expected.state == drawn.state;
    set_engine.get()(usual, before);
  }
  return as_expected;
}

enum class answer : std::uint8_t { unknown, no, yes };

// Whether `real` draws as `draws` says, for tensors of this type. Tried out once for each.
bool can_skip(random_fill* real, draws_for* draws, scalar_type type) noexcept {
  struct tried {
    std::atomic<random_fill*> function{nullptr};
    std::array<std::atomic<answer>, 16> of_type{};
  };
  static constinit std::array<tried, 2> known;
  if (!has_all_functions()) return false;
  for (tried& one : known) {
    random_fill* nobody = nullptr;
    if (one.function.load() != real && !one.function.compare_exchange_strong(nobody, real))
      continue;
    auto& told = one.of_type[static_cast<std::size_t>(type)];
    if (told.load() == answer::unknown) {
      told.store(draws_as_expected(real, draws, type) ? answer::yes : answer::no);
    }
    return told.load() == answer::yes;
  }
  return false;
}

// Moves a generator on as if such a tensor had been filled. False, and nothing is done, where it is
// none of the CPU's. After can_skip.
bool skip_fill(draws_for* draws, const host_tensor& filled, const void* generator) noexcept {
  void* const usual = *default_generator.get()();
  const auto& given = *static_cast<const optional_generator*>(generator);
  void* const used = given.is_given ? given.implementation : usual;
  if (used == nullptr || class_of(used) != class_of(usual)) return false;
  mersenne_twister engine;
  get_engine.get()(&engine, used);
  if (!engine.is_valid()) return false;
  engine.skip(draws(filled.elements, filled.type));
  set_engine.get()(used, engine);
  return true;
}

}  // namespace
}  // namespace memtrace::simulator::untouched

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

// Values that PyTorch refuses for any of the types are left to it.
constexpr double largest_half = 65504;

// The look-up and the trial happen even where nothing is left out: they move the program's
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
