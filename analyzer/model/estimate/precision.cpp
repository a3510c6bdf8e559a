// SPDX-License-Identifier: Apache-2.0
//
// torch.optim makes states with zeros_like(parameter), so that they have its type; autocast leaves
// the parameters in 32 bits and keeps a cast of each weight for the backward pass (PyTorch,
// "Automatic Mixed Precision package"). The copy in 32 bits: Micikevicius et al., arXiv 1710.03740;
// its 2 + 2 + 4 + 8 bytes with Adam: Rajbhandari et al., arXiv 1910.02054, section 3.1.
#include "analyzer/model/estimate/precision.h"

#include <algorithm>
#include <array>

namespace memtrace::estimate {

namespace {

constexpr std::array table = {
    bytes_each{precision::fp32, "fp32", "32 bits", 4, 4, 0, 0, 4, 4},
    bytes_each{precision::amp, "amp", "autocast to 16 bits", 4, 4, 0, 2, 4, 2},
    bytes_each{precision::half, "bf16", "16 bits throughout", 2, 2, 0, 0, 2, 2},
    bytes_each{precision::master, "master", "16 bits with a 32-bit copy", 2, 2, 4, 0, 4, 2},
};

}  // namespace

const bytes_each& bytes_of(precision what) {
  return table[static_cast<std::size_t>(what)];
}

std::optional<precision> precision_named(std::string_view name) {
  if (name == "fp16") return precision::half;
  const auto found = std::find_if(table.begin(), table.end(),
                                  [name](const bytes_each& one) { return one.name == name; });
  return found == table.end() ? std::nullopt : std::optional(found->what);
}

}  // namespace memtrace::estimate
