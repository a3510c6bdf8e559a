// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace memtrace::census {

// Whether this process has threads of autograd's engine, which the first backward pass on a GPU
// starts and which stay: without one there has been none. Also where that cannot be told.
[[nodiscard]] bool engine_has_threads() noexcept;

}  // namespace memtrace::census
