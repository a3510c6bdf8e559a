// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/kernel_concatenation.h"

#include <cstdint>
#include <cstring>

namespace memtrace::simulator::kernel_concatenation {
namespace {

constexpr std::size_t most_sources = 64;  // more are not worth following

template <typename Value>
Value load(const void* from, std::size_t offset = 0) {
  Value value;
  std::memcpy(&value, static_cast<const char*>(from) + offset, sizeof value);
  return value;
}

}  // namespace

std::vector<piece> pieces(const kernel_names::description& kernel, void** arguments) {
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

}  // namespace memtrace::simulator::kernel_concatenation
