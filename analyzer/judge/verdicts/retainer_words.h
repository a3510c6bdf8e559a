// SPDX-License-Identifier: Apache-2.0
//
// Retainers of memory, in words for people.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/judge/verdicts/verdict.h"
#include "memtrace/trace_format.h"

namespace memtrace::verdicts {

// The variable to look for in the program: self.outputs of self.outputs[…].grad_fn
[[nodiscard]] std::string variable_of(const retainer& held_by);

// `history`; `means` and `logvars` where two containers have the same memory; of a container without a
// name its class: a list without a name.
[[nodiscard]] std::string name_of(const retainer& held_by);

// Not in the innermost container on its path, whose class and length are those of the retainer.
[[nodiscard]] bool grows_further_out(const retainer& held_by);

// "list" of "list", "deque" of "deque(maxlen=50)"; of one further out
// "dict" where it has keys, else "list".
[[nodiscard]] std::string_view container_class(const retainer& held_by);

// By itself, as a deque of at most 50: not where a container around it gets longer.
[[nodiscard]] bool is_bounded_by_kind(const retainer& held_by);

// `self.outputs`, a list of 240 in Trainer, from fit (train.py:80)
[[nodiscard]] std::string describe(const retainer& held_by);

}  // namespace memtrace::verdicts
