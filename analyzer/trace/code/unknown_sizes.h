// SPDX-License-Identifier: Apache-2.0
//
// Sizes that hang on values of which a dry run has none, and that are zeros there:
//
//   token, place = torch.where(chosen == 3)     ◄── experts.py:25: nothing is chosen
//
// The recorder notes each place from which such a value was read, with its native frames. PyTorch's
// operators are among them (at::_ops::nonzero::call), and which of them make a result as large as the
// values say is what PyTorch tags `dynamic_output_shape`.
#pragma once

#include <string>
#include <vector>

#include "analyzer/trace/reader/dictionary.h"

namespace memtrace::code {

struct unknown_size {
  std::string operation;  // "nonzero"
  std::string place;      // "experts.py:25 forward"
  [[nodiscard]] bool operator==(const unknown_size&) const = default;
};

// Of all unknown reads (info_key::unknown_read), in their order, each place once. A loss that is
// printed is none of them, nor what a backward pass reads again.
[[nodiscard]] std::vector<unknown_size> unknown_sizes(const trace::dictionary& names,
                                                      const std::vector<std::string>& reads);

// "experts.py:25 forward (and 2 more)". There is at least one.
[[nodiscard]] std::string places_of(const std::vector<unknown_size>& sizes);

}  // namespace memtrace::code
