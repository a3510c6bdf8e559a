// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;

namespace {

enum class losses : std::uint8_t { of_each_call, of_all_calls, stacked };

// Four calls of two layers before one backward pass, which goes through the last call first. Each
// layer keeps 50 MiB inside and its output of 10, the loss 30 MiB and a number.
class waiting_training : public made_up_run {
 public:
  explicit waiting_training(losses how, const std::string& loss = "torch.stack(losses).mean()") {
    source("train.py", "import torch\n" + std::string(16, '\n') +
                           "def step():\n"
                           "    for x in batches:\n"
                           "        y = net(x)\n"
                           "        losses.append(criterion(y))\n"
                           "    " +
                           loss + ".backward()\n");
    (void)module("", "Net");
    for (const std::string path : {"layers.0", "layers.1"}) {
      outer_.push_back(module(path, "Layer"));
      inner_.push_back(module(path + ".feed", "Feed"));
      (void)module(path + ".feed.linear", "Linear");
    }
    weight_ = weight("w", 40 * mib);
    for (std::uint32_t step = 0; step < 2; ++step) run(how, step);
  }

 private:
  static constexpr std::uint32_t calls = 4;

  void run(losses how, std::uint32_t step) {
    std::vector<std::vector<block_number>> graphs;
    std::vector<block_number> numbers;
    std::vector<block_number> of_losses;
    for (std::uint32_t call = 1; call <= calls; ++call) {
      auto& graph = graphs.emplace_back();
      for (std::size_t i = 0; i < outer_.size(); ++i) {
        at = {phase::forward, inner_[i], layer_, step * calls + call};
        graph.push_back(keep(50 * mib));
        at.module = outer_[i];
        graph.push_back(keep(10 * mib));
      }
      at = {phase::forward, {}, loss_, 0};
      if (how != losses::of_all_calls || call == calls) {
        of_losses.push_back(keep(30 * mib, category::outputs));
      }
      numbers.push_back(make(category::outputs, 4));
    }
    if (how == losses::stacked) {
      at.stack = stack_;
      numbers.push_back(make(category::outputs, 4 * calls));
    }
    at = {phase::backward, {}, {}, 0};
    for (auto graph = graphs.rbegin(); graph != graphs.rend(); ++graph) {
      if (!of_losses.empty()) {
        free(gradient_of(of_losses.back(), "NllLossBackward0", category::temporaries, mib));
        free(of_losses.back());
        of_losses.pop_back();
      }
      for (std::size_t i = graph->size(); i-- > 0;) {
        free(gradient_of((*graph)[i], "MulBackward0", category::temporaries, 5 * mib));
        free((*graph)[i]);
      }
      if (graph != graphs.rbegin()) continue;
      gradient_ = gradient_of(graph->front(), "MulBackward0", category::gradients, 40 * mib);
    }
    free(numbers);
    at = {phase::optimizer, {}, {}, 0};
    free(make(category::temporaries, mib));
    free(gradient_);
    end_step();
  }

  std::vector<trace::object_id> outer_;
  std::vector<trace::object_id> inner_;
  trace::stack_id layer_ = line("train.py", 7, "forward", line("train.py", 20));
  trace::stack_id stack_ = line("train.py", 22);
  trace::stack_id loss_ = line("train.py", 21);
  block_number weight_ = 0;
  block_number gradient_ = 0;
};

constexpr std::uint64_t weights = 40 * mib;
constexpr std::uint64_t graph = std::uint64_t{2} * (50 + 10) * mib;
constexpr std::uint64_t loss = 30 * mib;

}  // namespace

TEST_CASE("GIVEN calls whose losses are added WHEN each has its backward THEN one graph is alive") {
  waiting_training run(losses::of_each_call);
  const auto all = advice::separate_backward(run.evidence());
  REQUIRE(all.size() == 1);
  CHECK(peak_of(run.log()) == weights + 4 * graph + 4 * loss + mib + 16);
  // From the second call on the gradient is there, and backward needs its scratch memory beside.
  const auto peak = peak_after(run, all[0]);
  CHECK(peak >= weights + 40 * mib + graph + loss);
  CHECK(peak <= weights + 40 * mib + graph + loss + 5 * mib + 16);
}

TEST_CASE("GIVEN losses in one tensor THEN it has a number of each, and nothing else") {
  waiting_training run(losses::stacked);
  CHECK(advice::separate_backward(run.evidence()).size() == 1);
}

TEST_CASE("GIVEN one loss of all calls THEN no backward pass can come before it") {
  waiting_training run(losses::of_all_calls);
  CHECK(advice::separate_backward(run.evidence()).empty());
}

TEST_CASE("GIVEN several calls before one backward WHEN checkpointed THEN each keeps its outputs") {
  waiting_training run(losses::of_each_call);
  const auto all = advice::checkpointing(run.evidence());
  REQUIRE(!all.empty());
  REQUIRE(all[0].amount == "Layer");
  CHECK(all[0].evidence.starts_with("2 modules Layer keep "));  // called four times each
  // The outputs of all calls, the losses of those to come, one layer again with backward's scratch.
  CHECK(peak_after(run, all[0]) == weights + 4 * 20 * mib + 3 * loss + 55 * mib + 16);
}

TEST_CASE("GIVEN a backward pass of what is no sum of the losses THEN each cannot have its own") {
  CHECK(advice::separate_backward(waiting_training(losses::stacked).evidence()).size() == 1);
  waiting_training run(losses::stacked, "torch.stack(losses).max()");
  CHECK(advice::separate_backward(run.evidence()).empty());
}
