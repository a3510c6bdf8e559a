// SPDX-License-Identifier: Apache-2.0
//
// The size of an array, estimated from its descriptor: elements times their size. The driver's
// tiles and rounding are not in it.
#include <algorithm>
#include <cstring>

#include "interpose/ground/driver/call_arguments.h"

namespace memtrace::call_arguments {
namespace {

struct format_size {
  int first;  // of a run of CUarray_format values
  int last;
  unsigned bits;  // of a channel, or of a whole element
  bool whole;     // the format says how many channels there are
};

// Values from cuda.h. The planar video formats (YUV) count the bits of an element over all planes.
constexpr format_size sizes[] = {
    {0x01, 0x01, 8, false},  {0x02, 0x02, 16, false}, {0x03, 0x03, 32, false},
    {0x08, 0x08, 8, false},  {0x09, 0x09, 16, false}, {0x0a, 0x0a, 32, false},
    {0x10, 0x10, 16, false}, {0x20, 0x20, 32, false}, {0x50, 0x50, 32, true},
    {0x91, 0x92, 4, true},   {0x93, 0x96, 8, true},   // block-compressed BC1; BC2 and BC3
    {0x97, 0x98, 4, true},   {0x99, 0x9e, 8, true},   // BC4; BC5 to BC7
    {0x9f, 0x9f, 24, true},  {0xa1, 0xa1, 24, true},  // P010, P016
    {0xa2, 0xa2, 16, true},  {0xa3, 0xa4, 32, true},  // NV16; P210, P216
    {0xa5, 0xa5, 16, true},  {0xa6, 0xa7, 32, true},  // YUY2; Y210, Y216
    {0xa8, 0xa9, 32, true},  {0xb1, 0xb1, 64, true},  // AYUV, Y410; Y416
    {0xb0, 0xb0, 12, true},  {0xb2, 0xb2, 24, true},  // NV12; three planes of 8 bits
    {0xb3, 0xb3, 48, true},  {0xb4, 0xb4, 24, true},  {0xb5, 0xb5, 48, true},
    {0xc0, 0xc0, 8, true},   {0xc1, 0xc1, 16, true},  {0xc2, 0xc2, 32, true},
    {0xc3, 0xc3, 16, true},  {0xc4, 0xc4, 32, true},  {0xc5, 0xc5, 64, true},
    {0xc6, 0xc6, 8, true},   {0xc7, 0xc7, 16, true},  {0xc8, 0xc8, 32, true},
    {0xc9, 0xc9, 16, true},  {0xca, 0xca, 32, true},  {0xcb, 0xcb, 64, true},
};

constexpr std::uint64_t at_least_one(std::uint64_t value) noexcept {
  return value == 0 ? 1 : value;
}

}  // namespace

std::uint64_t format_bits(int format, unsigned channels) noexcept {
  for (const auto& known : sizes) {
    if (format < known.first || format > known.last) continue;
    return known.whole ? known.bits : std::uint64_t{known.bits} * channels;
  }
  return 0;
}

std::uint64_t shape_bytes(array_shape shape, unsigned levels) noexcept {
  std::uint64_t width = at_least_one(shape.width);
  std::uint64_t height = at_least_one(shape.height);
  std::uint64_t depth = at_least_one(shape.depth);
  std::uint64_t bits = 0;
  for (unsigned level = 0; level < at_least_one(levels); ++level) {
    bits += width * height * depth * shape.element_bits;
    if (width * height * (shape.layered ? 1 : depth) == 1) break;  // no level below
    width = at_least_one(width / 2);
    height = at_least_one(height / 2);
    if (!shape.layered) depth = at_least_one(depth / 2);
  }
  return bits / 8;
}

std::uint64_t array_bytes(const void* channels, const cuda_extent& extent, unsigned flags,
                          unsigned levels) noexcept {
  std::int32_t bits[4] = {};
  if (channels != nullptr) std::memcpy(bits, channels, sizeof bits);
  std::uint64_t element = 0;
  for (const std::int32_t each : bits) element += static_cast<std::uint64_t>(std::max(each, 0));
  return shape_bytes({.width = extent.width,
                      .height = extent.height,
                      .depth = extent.depth,
                      .element_bits = element,
                      .layered = (flags & array_is_layered) != 0},
                     levels);
}

}  // namespace memtrace::call_arguments
