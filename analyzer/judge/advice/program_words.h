// SPDX-License-Identifier: Apache-2.0
//
// Words for pieces of advice about a program: its lines, its settings, the library that runs its
// loop.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/judge/blocks/evidence.h"
#include "analyzer/judge/blocks/passes.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

// Who runs the training loop.
enum class loop_owner : std::uint8_t { program, transformers, lightning };
[[nodiscard]] loop_owner owner_of_loop(const blocks::evidence& of,
                                       const blocks::run_passes& passes);

// "train.py:88 main", the innermost line of the user's that led there; empty: none is known.
[[nodiscard]] std::string line_of(const blocks::evidence& of, trace::stack_id stack);
// The line that calls the innermost module in whose forward this stack lies; empty: not known.
[[nodiscard]] std::string line_that_calls_module(const blocks::evidence& of, trace::stack_id stack);
// The frames around the call of the outermost module in whose forward this stack lies, innermost
// first: all of them, where it lies in none.
[[nodiscard]] std::vector<code::source_frame> frames_around_model(const blocks::evidence& of,
                                                                  trace::stack_id stack);
// The innermost line of the user's among them; empty: not known.
[[nodiscard]] std::string line_that_calls_model(const blocks::evidence& of, trace::stack_id stack);

// Whether torch.load or safetensors asked for a block: it is of a file.
[[nodiscard]] bool is_loaded(const blocks::evidence& of, trace::stack_id stack);

// Whether this function of torch.nn.functional is on the stack.
[[nodiscard]] bool passes_through(const blocks::evidence& of, trace::stack_id stack,
                                  std::string_view function);

// Whether training calls it, itself or by a module.
[[nodiscard]] bool calls_function(const blocks::evidence& of, const blocks::run_passes& passes,
                                  std::string_view name);

// The one option of the command line whose value is the first dimension of most that autograd kept:
// "--batch-size 32"; empty: there is none, or more than one, or shapes are not known.
[[nodiscard]] std::string batch_option(const blocks::evidence& of,
                                       const blocks::run_passes& passes);

// From compute capability 8.0 on; where it is not known, too.
[[nodiscard]] bool computes_in_bfloat16(const blocks::evidence& of);

// "1.2 GiB".
[[nodiscard]] std::string bytes_in_words(std::uint64_t bytes);
// 0.314 → "31 %".
[[nodiscard]] std::string share_in_words(std::uint64_t part, std::uint64_t whole);

}  // namespace memtrace::advice
