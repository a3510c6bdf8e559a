// SPDX-License-Identifier: Apache-2.0
//
// Requests that were refused, by PyTorch's allocator or by CUDA.
#pragma once

#include <string>
#include <vector>

#include "analyzer/run/model/model.h"

namespace memtrace::run {

// Free memory that would have been enough lay in pieces: unused in PyTorch's cache, or a setting of the
// allocator gets past the request.
[[nodiscard]] bool was_in_pieces(const process_report& process, const oom_report& oom);

// Beside PyTorch's pool: "544 MiB refused to libnccl.so.2 at train.py:7", "1 GiB of 1.06 GiB of PyTorch's
// pool are unused"
[[nodiscard]] std::vector<std::string> refusal_parts(const outside_refusal_report& what);

}  // namespace memtrace::run
