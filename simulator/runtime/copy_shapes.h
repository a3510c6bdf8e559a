// SPDX-License-Identifier: Apache-2.0
//
// The runtime's descriptions of copies and fills as the core takes them.
#pragma once

#include <cuda_runtime_api.h>

#include "simulator/core/copies.h"

namespace memtrace::simulator {

// Between linear memory only: arrays belong to textures. False if a side is no linear memory or a
// row is longer than its pitch.
[[nodiscard]] inline bool shape_of(const cudaMemcpy3DParms& box, strided_copy& result) {
  if (!box.dstPtr.ptr || !box.srcPtr.ptr) return false;
  const auto start = [](const cudaPitchedPtr& side, const cudaPos& at) {
    return static_cast<char*>(side.ptr) + (at.z * side.ysize + at.y) * side.pitch + at.x;
  };
  result.to = start(box.dstPtr, box.dstPos);
  result.from = start(box.srcPtr, box.srcPos);
  result.width = box.extent.width;
  result.height = box.extent.height;
  result.depth = box.extent.depth;
  result.to_pitch = box.dstPtr.pitch;
  result.to_slice = box.dstPtr.pitch * box.dstPtr.ysize;
  result.from_pitch = box.srcPtr.pitch;
  result.from_slice = box.srcPtr.pitch * box.srcPtr.ysize;
  return result.width <= result.to_pitch && result.width <= result.from_pitch;
}

[[nodiscard]] inline strided_fill shape_of(const cudaMemsetParams& fill) {
  strided_fill result;
  result.to = fill.dst;
  result.value = fill.value;
  result.element = fill.elementSize;
  result.width = fill.width;
  result.height = fill.height;
  result.pitch = fill.pitch;
  return result;
}

}  // namespace memtrace::simulator
