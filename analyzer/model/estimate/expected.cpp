// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/estimate/expected.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "analyzer/base/text/units.h"
#include "analyzer/model/estimate/optimizers.h"

namespace memtrace::estimate {

namespace {

// PyTorch, getChosenWorkspaceSize: :4096:2:16:8 in KiB, and 32 MiB from Hopper on.
constexpr std::uint64_t small_workspace = (2 * 4096 + 8 * 16) * std::uint64_t{1024};
constexpr std::uint64_t large_workspace = std::uint64_t{32} << 20;

[[nodiscard]] std::uint64_t whole(double bytes) {
  constexpr double most = 1e18;  // of a damaged trace
  return static_cast<std::uint64_t>(std::min(std::round(bytes), most));
}

struct sums {
  std::uint64_t all = 0;
  std::uint64_t trained = 0;
  double trained_elements = 0;
};

[[nodiscard]] sums sums_of(const std::vector<trained_storage>& parameters) {
  sums found;
  for (const auto& one : parameters) {
    found.all += one.bytes;
    if (!one.trained) continue;
    found.trained += one.bytes;
    found.trained_elements += static_cast<double>(one.bytes) / std::max<int>(one.element_bytes, 1);
  }
  return found;
}

[[nodiscard]] expected_term weights(const measured_run& run, const sums& sum) {
  expected_term made{
      "weights",          "weights", sum.all, run.weights, "each parameter once, in its type",
      source::arithmetic, {}};
  if (run.unused_copies != 0) {
    made.note = fmt::format("{} are copies that no forward pass uses",
                            text::format_bytes(run.unused_copies));
  } else if (run.weights > sum.all) {
    made.note =
        "what is more was there beside the model's parameters: a second model, or a copy "
        "while it was loaded or cast";
  } else if (run.weights < sum.all) {
    made.note = "parameters that are not on this GPU, or not all the time";
  }
  return made;
}

[[nodiscard]] expected_term gradients(const measured_run& run, const sums& sum) {
  expected_term made{"gradients",
                     "gradients",
                     sum.trained,
                     run.gradients,
                     "each trained parameter once, in its type",
                     source::arithmetic,
                     {}};
  if (run.gradients > sum.trained + sum.trained / 2) {
    made.note = "a second time: in buckets of DistributedDataParallel, or kept by the program";
  } else if (run.gradients < sum.trained) {
    made.note =
        "parameters without a gradient: not used in the steps of this run, or freed in "
        "the backward pass";
  }
  return made;
}

// The one optimizer class; where there are several, nobody knows here which parameter is whose.
[[nodiscard]] const optimizer_facts* the_optimizer(const measured_run& run) {
  return run.optimizers.size() == 1 ? optimizer_of_class(run.optimizers.front()) : nullptr;
}

[[nodiscard]] bool is_sgd(const measured_run& run) {
  return run.optimizers.size() == 1 && run.optimizers.front() == "SGD";
}

[[nodiscard]] expected_term states(const measured_run& run, const sums& sum) {
  expected_term made{"optimizer_states",
                     "optimizer states",
                     {},
                     run.optimizer_states,
                     {},
                     source::torch_optim,
                     {}};
  if (is_sgd(run)) {
    // Momentum or not is not recorded: the nearer of the two. What has no gradient has no momentum.
    const auto updated = run.gradients == 0 ? sum.trained : std::min(sum.trained, run.gradients);
    const bool momentum = run.optimizer_states > updated / 2;
    made.expected = momentum ? updated : 0;
    made.formula = momentum ? "SGD with momentum: one a parameter that has a gradient"
                            : "SGD without momentum: none";
    return made;
  }
  const auto* const optimizer = the_optimizer(run);
  if (optimizer == nullptr || optimizer->kind == state_kind::factored) {
    made.note = run.optimizers.empty()      ? "no optimizer stepped"
                : run.optimizers.size() > 1 ? "several optimizers"
                                            : "no formula for " + run.optimizers.front();
    return made;
  }
  made.from = optimizer->from;
  if (optimizer->kind == state_kind::quantized) {
    made.expected = whole(state_bytes(*optimizer, sum.trained_elements, 1, 0));
    made.formula = fmt::format("{}: {} × (1 + 4 / 256) B an element", run.optimizers.front(),
                               optimizer->tensors);
  } else {
    made.expected = optimizer->tensors * sum.trained;
    made.formula = fmt::format("{}: {} of each trained parameter's size and type",
                               run.optimizers.front(), optimizer->tensors);
  }
  if (*made.expected > run.optimizer_states) {
    made.note = "parameters that got no gradient have no states; states on the host are not here";
  }
  return made;
}

[[nodiscard]] expected_term temporaries(const measured_run& run, const sums& sum) {
  expected_term made{"optimizer_temporaries",
                     "the step's temporaries",
                     {},
                     run.step_temporaries,
                     {},
                     source::torch_foreach,
                     {}};
  const auto* const optimizer = the_optimizer(run);
  if (optimizer == nullptr || optimizer->temporaries == 0) return made;
  made.expected = optimizer->temporaries * sum.trained;
  made.formula = fmt::format("foreach: {} × the trained parameters", optimizer->temporaries);
  if (run.step_temporaries * 2 < *made.expected) made.note = "fused, a loop, or not the default";
  return made;
}

[[nodiscard]] expected_term casts(const measured_run& run, const sums& sum) {
  expected_term made{
      "weight_casts", "autocast's copies", {}, run.weight_casts, {}, source::torch_amp, {}};
  if (!run.autocast) return made;
  made.expected = sum.all / 2;
  made.formula = "2 B of each 4 B of weights";
  if (run.weight_casts < *made.expected) {
    made.note = "embeddings and norms are not cast";
  }
  return made;
}

}  // namespace

std::vector<expected_term> expect(const measured_run& run) {
  const auto sum = sums_of(run.parameters);
  std::vector<expected_term> all;
  if (sum.all != 0) {
    all.push_back(weights(run, sum));
    if (!run.optimizers.empty() || run.gradients != 0) all.push_back(gradients(run, sum));
    if (!run.optimizers.empty()) {
      all.push_back(states(run, sum));
      all.push_back(temporaries(run, sum));
    }
    if (run.autocast) all.push_back(casts(run, sum));
  }
  expected_term activations{"activations",
                            "activations",
                            run.expected_activations,
                            run.activations,
                            run.activations_formula,
                            source::transformers,
                            {}};
  if (!run.expected_activations) {
    activations.note = "the model's shape, or the tokens of a step, are not known";
  }
  all.push_back(std::move(activations));
  // Each thread that multiplies has one, and cuBLASLt one of its own from Hopper on.
  const auto workspace = run.hopper ? large_workspace : small_workspace;
  all.push_back({"workspace", "workspaces", run.workspace == 0 ? 0 : 2 * workspace, run.workspace,
                 run.hopper ? "2 × 32 MiB" : "2 × 8,320 KiB", source::workspaces,
                 run.workspace > 2 * workspace ? "one more for each further stream or thread, and "
                                                 "those of cuDNN"
                                               : ""});
  all.push_back({"cached",
                 "cached, not in use",
                 {},
                 run.cached,
                 {},
                 source::arithmetic,
                 "what the allocator keeps: see --by fragmentation"});
  if (run.graph_pools != 0) {
    all.push_back({"graph_pool",
                   "graph pool",
                   {},
                   run.graph_pools,
                   {},
                   source::arithmetic,
                   "what replays of CUDA graphs need"});
  }
  return all;
}

bool is_off(const expected_term& term, std::uint64_t peak) {
  if (!term.expected) return false;
  const auto expected = static_cast<double>(*term.expected);
  const auto difference = std::abs(static_cast<double>(term.measured) - expected);
  return difference > notable_difference * expected &&
         difference > notable_share * static_cast<double>(peak);
}

}  // namespace memtrace::estimate
