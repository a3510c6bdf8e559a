// SPDX-License-Identifier: Apache-2.0
//
// What memtrace knows of the engines that serve language models, vLLM and SGLang: how they are
// started without weights, and the sentences in which they say what their KV cache holds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/plan/fit/value_place.h"

namespace memtrace::serve {

// What an engine wrote. Nothing: it did not say.
struct engine_words {
  std::optional<std::uint64_t> tokens;     // that its KV cache has room for
  std::optional<std::uint64_t> length;     // of the longest request, in tokens
  std::optional<double> requests_at_once;  // of that length
  std::string trouble;  // the error that it ended with, as it said it; empty: none
};

// Of vLLM "GPU KV cache size: 455,616 tokens" and "Maximum concurrency for 8,192 tokens per request:
// 55.62x"; of SGLang "max_total_num_tokens=455616" and "context_len=8192". Several engines, of data
// parallelism, hold the sum. The trouble is the first exception outside of lines at a level below
// that of errors: an engine's other processes end because of it.
[[nodiscard]] engine_words words_of(std::string_view output);

// Changes the start of a server so that it needs neither weights nor a tokenizer, nor a compiler of
// CUDA: what a GPU is asked for stays the same. Says what was added, a phrase each; none: the
// command is no server that is known, or has it all. `variables`: those that are set already.
[[nodiscard]] std::vector<std::string> do_without_weights(
    fit::launch& start, const std::vector<std::string>& variables);

// The port at which the server of this command will take connections; 0: not known.
[[nodiscard]] std::uint64_t port_of(const std::vector<std::string>& command);

}  // namespace memtrace::serve
