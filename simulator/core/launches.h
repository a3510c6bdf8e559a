// SPDX-License-Identifier: Apache-2.0
//
// Kernel launches: checked, timed, recorded in captures; they compute nothing.
#pragma once

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "simulator/core/streams.h"

namespace memtrace::simulator {

struct launch_shape {
  dim3 grid;
  dim3 block;
  std::size_t shared_bytes = 0;
};

namespace launches {

// Whether the hardware takes that grid and block.
[[nodiscard]] bool valid(const launch_shape& shape);

// `function` is what the runtime's or the driver's launch call was given. Null stream: no such
// handle, error 400. The caller has checked the shape.
[[nodiscard]] cudaError_t kernel(stream* stream, const void* function, const launch_shape& shape,
                                 void** arguments);

// Calls the function once everything given to the stream is done: at once, since work does nothing;
// at each launch of the graph if the stream is capturing.
[[nodiscard]] cudaError_t host_function(stream* stream, cudaHostFn_t function, void* data);

}  // namespace launches
}  // namespace memtrace::simulator
