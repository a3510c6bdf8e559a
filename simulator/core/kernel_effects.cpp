// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/kernel_effects.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "simulator/core/contents.h"
#include "simulator/core/kernels.h"
#include "simulator/log/log.h"

namespace memtrace::simulator::kernel_effects {
namespace {

using kernel_names::description;
using kernel_names::element;
using kernel_names::layout;
using kernel_names::operation;
using kernel_names::scalar_side;

constexpr std::size_t most_elements = 8192;
// Descriptions never move or go away.
const description* described(const void* function) {
  static std::mutex lock;
  static auto* const descriptions =
      new std::unordered_map<const void*, std::unique_ptr<const description>>;
  const std::scoped_lock guard(lock);
  std::unique_ptr<const description>& found = (*descriptions)[function];
  if (!found) {
    const char* const name = kernels::name_of(function);
    found =
        std::make_unique<const description>(name ? kernel_names::describe(name) : description{});
    const bool known = found->form != layout::unknown;
    if (known) log::trace("kernel {}", name);
    if (!known) log::debug("what this kernel writes is not known: {}", name ? name : "unnamed");
  }
  return found.get();
}

// Each thread keeps what it launched last, so that a launch takes no lock here.
const description* cached(const void* function) {
  struct slot {
    const void* function = nullptr;
    const description* about = nullptr;
  };
  thread_local std::array<slot, 512> slots;
  const auto value = reinterpret_cast<std::uintptr_t>(function);
  slot& mine = slots[(value >> 4 ^ value >> 13) % slots.size()];
  if (mine.function != function) mine = {function, described(function)};
  return mine.about;
}

template <typename Value>
Value load(const void* from, std::size_t offset = 0) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof value);
  return value;
}

constexpr std::size_t most_sources = 64;  // more are not worth following

// torch.cat on small tensors: which bytes go where. Facts of PyTorch's CatArrayBatchedCopy kernels
// (ATen/native/cuda/Shape.cu): (out, sources, sizes and strides of out, int dimension, unsigned
// stride of that dimension in elements). The sources are arrays with a place for each: addresses,
// offsets along the dimension, sizes along it, elements, and whether each is contiguous.
// Nothing unless the tensors lie one after the other in the result: contiguous, along dimension 0.
std::vector<piece> concatenated(const description& kernel, void** arguments) {
  const auto out = load<address_t>(arguments[0]);
  const void* const sources = arguments[1];
  const auto dimension = load<int>(arguments[3]);
  const std::size_t stride = load<std::uint32_t>(arguments[4]);
  if (dimension != 0 || !is_device_address(out)) return {};
  const std::size_t slots = kernel.slots;
  const std::size_t offsets = slots * sizeof(address_t);
  const std::size_t elements = offsets + 2 * slots * sizeof(std::uint32_t);
  const std::size_t contiguous = elements + slots * sizeof(std::uint32_t);
  std::vector<piece> result;
  // Places behind the last source hold anything, but the sources fill the result without gaps.
  const std::size_t end = load<std::uint32_t>(arguments[2]) * stride;
  std::size_t expected = load<std::uint32_t>(sources, offsets) * stride;
  for (std::size_t slot = 0; slot < slots && expected < end; ++slot) {
    const auto from = load<address_t>(sources, slot * sizeof(address_t));
    const std::size_t count = load<std::uint32_t>(sources, elements + slot * 4);
    const std::size_t at = load<std::uint32_t>(sources, offsets + slot * 4) * stride;
    if (at != expected || at + count > end || count == 0) break;
    if (load<std::uint8_t>(sources, contiguous + slot) != 1 || slot == most_sources) return {};
    if (!is_device_address(from)) return {};
    const std::size_t bytes = kernel.output.bytes;
    result.push_back({out + at * bytes, from, count * bytes});
    expected = at + count;
  }
  return result;
}

void add_output(bound& launch, address_t at) {
  if (launch.outputs < bound::most_outputs && is_device_address(at)) {
    launch.out[launch.outputs++] = at;
  }
}

// Structures that hold addresses, such as lambdas and TensorInfo, have them among their first
// words; two words are there in any: what is behind a smaller one is the caller's stack.
void bind_arguments(bound& launch, void** arguments) {
  for (const unsigned position : launch.about->written) {
    add_output(launch, load<address_t>(arguments[position]));
  }
  for (const unsigned position : launch.about->structures) {
    for (std::size_t word = 0; word < 2 && launch.mentions < bound::most_outputs; ++word) {
      const auto address = load<address_t>(arguments[position], 8 * word);
      if (is_device_address(address)) launch.mentioned[launch.mentions++] = address;
    }
  }
}

// c10::ScalarType by its number.
element type_of(std::int8_t number) {
  constexpr char letters[] = {'h', 'a', 's', 'i', 'l', 0, 'f', 'd', 0, 0, 0, 'b'};
  constexpr std::size_t sizes[] = {1, 1, 2, 4, 8, 0, 4, 8, 0, 0, 0, 1};
  const auto at = static_cast<std::size_t>(number);
  return at < sizeof letters ? element{letters[at], sizes[at]} : element{};
}

bool read_types(bound& launch, void** arguments) {
  launch.out_type = launch.about->output;
  launch.in_type[0] = launch.in_type[1] = launch.about->input;
  if (!launch.about->casts) return true;
  for (std::size_t i = 0; i < launch.inputs; ++i) {
    launch.in_type[i] = type_of(load<std::int8_t>(arguments[5], i));
    if (launch.in_type[i].letter == 0) return false;
  }
  launch.out_type = type_of(load<std::int8_t>(arguments[6]));
  return launch.out_type.letter != 0;
}

// The operation's own state comes first in the functor, then the scalar, aligned to its size.
void read_functor(bound& launch, const void* functor) {
  const operation what = launch.about->what;
  if (what == operation::fill) {
    std::memcpy(launch.scalar, functor, launch.about->output.bytes);
    return;
  }
  if (what == operation::add) {
    if (launch.about->scalar != scalar_side::none) {
      std::memcpy(launch.scalar, functor, launch.about->input.bytes);
    }
    return;
  }
  const bool has_state = what == operation::equality || what == operation::comparison;
  if (has_state) launch.which = load<int>(functor);
  if (launch.about->scalar == scalar_side::none) return;
  const std::size_t bytes = launch.about->input.bytes;
  const std::size_t offset = std::max(has_state ? sizeof(int) : std::size_t{1}, bytes);
  std::memcpy(launch.scalar, static_cast<const char*>(functor) + offset, bytes);
}

// a + factor × b, of which only the factor 1 is followed.
bool plain_sum(const bound& launch, const void* functor) {
  const std::size_t bytes = launch.about->input.bytes;
  const std::size_t at = launch.about->scalar == scalar_side::none ? 0 : bytes;
  std::int64_t factor = 0;
  std::memcpy(&factor, static_cast<const char*>(functor) + at, bytes);
  return factor == 1;
}

void bind_flat(bound& launch, void** arguments) {
  const auto count = load<int>(arguments[0]);
  const void* const pointers = arguments[2];
  add_output(launch, load<address_t>(pointers));
  const operation what = launch.about->what;
  if (count <= 0 || launch.outputs == 0) return;
  launch.count = static_cast<std::size_t>(count);
  launch.out_bytes = launch.count * std::max<std::size_t>(1, launch.about->output.bytes);
  if (what == operation::none) return;
  const bool unary = what == operation::copy || what == operation::bitwise_not ||
                     what == operation::logical_not || launch.about->scalar != scalar_side::none;
  launch.inputs = what == operation::fill ? 0 : unary ? 1 : 2;
  for (std::size_t i = 0; i < launch.inputs; ++i) {
    launch.in[i] = load<address_t>(pointers, sizeof(address_t) * (i + 1));
    if (!is_device_address(launch.in[i])) return;
  }
  if (launch.count > most_elements && what != operation::fill) return;
  if (what == operation::fill && launch.about->casts) return;
  if (what == operation::add && !plain_sum(launch, arguments[1])) return;
  read_functor(launch, arguments[1]);
  launch.computes = read_types(launch, arguments);
}

bool null_or_device(address_t address) {
  return address == 0 || is_device_address(address);
}

// An OffsetCalculator (dimensions; 25 × divisor, multiplier, shift; 25 × a stride for each tensor)
// and then the tensors' addresses, out first. Unused strides hold anything, so that the addresses
// are looked for where they are for a number of tensors, not searched.
void bind_strided(bound& launch, const void* functor) {
  constexpr std::size_t dimensions = 25;
  for (std::size_t tensors = 4; tensors > 0; --tensors) {
    const std::size_t calculator = 4 + dimensions * 12 + dimensions * 4 * tensors;
    const std::size_t at = (calculator + 7) / 8 * 8;
    bool all = true;
    for (std::size_t i = 0; i < tensors; ++i) {
      all &= is_device_address(load<address_t>(functor, at + 8 * i));
    }
    if (!all) continue;
    add_output(launch, load<address_t>(functor, at));
    return;
  }
}

// The end of a ReduceOp: source, two destinations, three buffers, a base index, two truth values
// and the number of outputs. It comes after the operation's own state, of any size, and two offset
// calculators. True if it is at that offset.
bool reduction_ends(const void* functor, std::size_t at) {
  const auto word = [&](std::size_t i) { return load<address_t>(functor, at + 8 * i); };
  if (!is_device_address(word(0)) || !is_device_address(word(1))) return false;
  for (std::size_t i = 2; i < 6; ++i) {
    if (!null_or_device(word(i))) return false;
  }
  const address_t flags = word(7);
  const address_t outputs = flags >> 32;
  return (flags & 0xff) <= 1 && (flags >> 8 & 0xff) <= 1 && outputs >= 1 && outputs <= 2;
}

void bind_reduction(bound& launch, const void* functor) {
  constexpr std::size_t earliest = 960;  // no state at all
  constexpr std::size_t latest = 1080;   // the longest state, of Welford's variance
  std::size_t at = earliest;
  while (at <= latest && !reduction_ends(functor, at)) at += 8;
  if (at > latest) return;
  launch.in[0] = load<address_t>(functor, at);
  add_output(launch, load<address_t>(functor, at + 8));
  const auto second = load<address_t>(functor, at + 16);
  if (second != 0) add_output(launch, second);
  if (launch.outputs == 0 || launch.about->what == operation::none) return;
  // Behind the operation and its neutral element: the element's size, inputs, outputs (ints).
  const std::size_t bytes = launch.about->input.bytes;
  const std::size_t offset = std::max<std::size_t>(4, 2 * bytes);
  const auto size = load<int>(functor, offset);
  const auto count = load<int>(functor, offset + sizeof(int));
  const auto outputs = load<int>(functor, offset + 2 * sizeof(int));
  if (size != static_cast<int>(bytes) || outputs != 1 || count <= 0) return;
  if (static_cast<std::size_t>(count) > most_elements) return;
  launch.count = static_cast<std::size_t>(count);
  launch.inputs = 1;
  launch.in_type[0] = launch.out_type = launch.about->input;
  launch.computes = true;
}

}  // namespace

bound bind(const void* function, void** arguments) {
  bound launch;
  if (!arguments) return launch;
  launch.about = cached(function);
  switch (launch.about->form) {
    case layout::arguments:
      bind_arguments(launch, arguments);
      break;
    case layout::flat:
      bind_flat(launch, arguments);
      break;
    case layout::strided:
      bind_strided(launch, arguments[1]);
      break;
    case layout::concatenation:
      launch.pieces = concatenated(*launch.about, arguments);
      if (launch.pieces.empty()) add_output(launch, load<address_t>(arguments[0]));
      break;
    case layout::reduction:
      bind_reduction(launch, arguments[0]);
      break;
    case layout::unknown:
      launch.about = nullptr;
      break;
  }
  return launch;
}

void run(const bound& launch) {
  if (!launch.about) {
    contents::unknown_kernel_ran();
    return;
  }
  for (const auto& piece : launch.pieces) contents::copy(piece.to, piece.from, piece.bytes);
  if (launch.computes && small_tensors::compute(launch)) return;
  for (std::size_t i = 0; i < launch.outputs; ++i)
    contents::computed_from(launch.out[i], launch.out_bytes);
  for (std::size_t i = 0; i < launch.mentions; ++i) contents::maybe_computed(launch.mentioned[i]);
}

}  // namespace memtrace::simulator::kernel_effects
