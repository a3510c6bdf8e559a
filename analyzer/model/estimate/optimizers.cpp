// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/optimizers.h"

#include <algorithm>
#include <array>

namespace memtrace::estimate {

namespace {

// bitsandbytes: blocks of 256 elements share a 32-bit scale (its documentation, "8-bit optimizers",
// and arXiv 2110.02861, whose blocks were of 2048).
constexpr double scale_block = 256;
constexpr double scale_bytes = 4;
constexpr double factor_bytes = 4;

// temporaries: what torch.optim's foreach form holds of all parameters at once: of Adam the square
// roots of the second moments; of SGD with weight decay, which is not the default, a copy of the
// gradients. Libraries' kernels go parameter by parameter.
constexpr std::array table = {
    optimizer_facts{"adamw", "AdamW Adam", state_kind::full, 2, 1, source::adam},
    optimizer_facts{"adamw-fused", "", state_kind::full, 2, 0, source::torch_foreach},
    optimizer_facts{"amsgrad", "", state_kind::full, 3, 1, source::torch_foreach},
    optimizer_facts{"adamw-8bit", "AdamW8bit Adam8bit PagedAdamW8bit PagedAdam8bit",
                    state_kind::quantized, 2, 0, source::eight_bit},
    optimizer_facts{"lion", "Lion", state_kind::full, 1, 0, source::lion},
    optimizer_facts{"lion-8bit", "Lion8bit PagedLion8bit", state_kind::quantized, 1, 0,
                    source::eight_bit},
    optimizer_facts{"adafactor", "Adafactor", state_kind::factored, 0, 0, source::adafactor},
    optimizer_facts{"sgd", "", state_kind::full, 0, 0, source::torch_optim},
    optimizer_facts{"sgd-momentum", "", state_kind::full, 1, 0, source::torch_optim},
    optimizer_facts{"rmsprop", "RMSprop", state_kind::full, 1, 1, source::torch_optim},
    optimizer_facts{"adagrad", "Adagrad", state_kind::full, 1, 1, source::torch_optim},
};

}  // namespace

std::span<const optimizer_facts> optimizers() {
  return table;
}

const optimizer_facts* optimizer_named(std::string_view name) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [name](const optimizer_facts& one) { return one.name == name; });
  return found == table.end() ? nullptr : &*found;
}

const optimizer_facts* optimizer_of_class(std::string_view class_name) {
  for (const auto& one : table) {
    auto rest = one.class_names;
    while (!rest.empty()) {
      const auto end = std::min(rest.find(' '), rest.size());
      if (rest.substr(0, end) == class_name) return &one;
      rest.remove_prefix(std::min(end + 1, rest.size()));
    }
  }
  return nullptr;
}

double state_bytes(const optimizer_facts& optimizer, double parameters, double element,
                   double rows_and_columns) {
  switch (optimizer.kind) {
    case state_kind::full:
      return optimizer.tensors * parameters * element;
    case state_kind::quantized:
      return optimizer.tensors * parameters * (1 + scale_bytes / scale_block);
    case state_kind::factored:
      return factor_bytes * rows_and_columns;
  }
  return 0;
}

}  // namespace memtrace::estimate
