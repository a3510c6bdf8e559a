// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/generator.h"

#include <array>
#include <atomic>
#include <cstring>

#include "simulator/untouched/mersenne_twister.h"
#include "simulator/untouched/torch_function.h"
#include "simulator/untouched/torch_symbols.h"

namespace memtrace::simulator::untouched {
namespace {

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

}  // namespace

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

}  // namespace memtrace::simulator::untouched
