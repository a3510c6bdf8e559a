// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/model_parts.h"
#include "analyzer/judge/advice/pieces.h"
#include "tests/unit/analyzer/judge/advice/made_up_run.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace memtrace::tests;

namespace {

// Four layers; each keeps 50 MiB inside and its output of 10 for backward, and needs 5 of scratch
// memory in its forward and 20 in its backward.
class layered_training : public made_up_run {
 public:
  explicit layered_training(std::size_t layers = 4, const std::string& loop = {}) {
    (void)module("", "Net");
    if (!loop.empty()) {
      const auto model = line("transformers/modeling_net.py", 3, "forward", line(loop, 5));
      called_ = line("torch/nn/modules/module.py", 1, "_call_impl", model);
    }
    for (std::size_t i = 0; i < layers; ++i) {
      const auto path = "layers." + std::to_string(i);
      outer_.push_back(module(path, "Layer"));
      inner_.push_back(module(path + ".feed", "Feed"));
      (void)module(path + ".feed.linear", "Linear");
    }
    for (unsigned step = 0; step < 2; ++step) run(step + 1);
  }
  [[nodiscard]] const std::vector<trace::object_id>& inner() const { return inner_; }
  [[nodiscard]] const std::vector<trace::object_id>& outer() const { return outer_; }

 private:
  void run(std::uint32_t call) {
    std::vector<block_number> inside;
    std::vector<block_number> outputs;
    for (std::size_t i = 0; i < outer_.size(); ++i) {
      at = {phase::forward, inner_[i], line("model.py", 7, "forward", called_), call};
      inside.push_back(keep(50 * mib));
      free(make(category::temporaries, 5 * mib));
      at.module = outer_[i];
      outputs.push_back(keep(10 * mib));
    }
    at.module = {};
    const auto loss = make(category::outputs, mib);
    at.during = phase::backward;
    for (std::size_t i = outer_.size(); i-- > 0;) {
      const auto scratch = gradient_of(inside[i], "MulBackward0", category::temporaries, 20 * mib);
      free({inside[i], outputs[i], scratch});
    }
    at = {phase::optimizer, {}, {}, 0};
    free(make(category::temporaries, mib));
    end_step();
    free(loss);
  }

  trace::stack_id called_;
  std::vector<trace::object_id> outer_;
  std::vector<trace::object_id> inner_;
};

}  // namespace

TEST_CASE("repeated classes have several modules, with modules inside") {
  layered_training run;
  CHECK(advice::repeated_types(run.evidence()) == std::vector<std::string>{"Feed", "Layer"});
  layered_training single(1);
  CHECK(advice::repeated_types(single.evidence()).empty());
}

TEST_CASE("modules know in which copy of a class they lie") {
  layered_training run;
  const advice::module_copies copies(run.evidence(), "Layer");
  CHECK(copies.of(run.outer()[2]) == copies.of(run.inner()[2]));
  CHECK(copies.of(run.outer()[1]) != copies.of(run.inner()[2]));
  CHECK(copies.is_copy_itself(run.outer()[0]));
  CHECK_FALSE(copies.is_copy_itself(run.inner()[0]));
  CHECK(copies.of({}) == advice::module_copies::none);
}

TEST_CASE("checkpointed layers keep their outputs only, and one layer comes back at a time") {
  layered_training run;
  const auto all = advice::checkpointing(run.evidence());
  // A Feed keeps its output, which the layer keeps anyway.
  REQUIRE(all.size() == 1);
  CHECK(all[0].amount == "Layer");
  // Now: 4 × (50 + 10), the loss and the scratch memory of the last layer's backward.
  CHECK(peak_of(run.log()) == 261 * mib);
  // Then: four outputs, the loss, and of one layer what it keeps with the scratch of backward.
  CHECK(peak_after(run, all[0]) == (40 + 1 + 50 + 20) * mib);
}

TEST_CASE("what runs under checkpoint() already is not proposed") {
  layered_training run;
  auto of = run.evidence();
  of.modules.at(run.outer()[0]).checkpointed = true;
  CHECK(advice::repeated_types(of) == std::vector<std::string>{"Feed"});
}

TEST_CASE("a model of transformers has a switch, and so has the Trainer that runs it") {
  layered_training own(4, "train.py");
  CHECK(advice::checkpointing(own.evidence())[0].change.starts_with(
      "model.gradient_checkpointing_enable() (each Layer at modeling_net.py:3 forward"));
  layered_training run(4, "transformers/trainer.py");
  CHECK(advice::checkpointing(run.evidence())[0].change.starts_with(
      "gradient_checkpointing=True in TrainingArguments (each Layer at modeling_net.py:3 forward"));
}

namespace {

// Two layers whose input nobody keeps. Of each 50 MiB stay for its backward pass and 20 for a cache
// that is gone only after the step.
struct caching_training : made_up_run {
  caching_training() {
    const auto root = module("", "Net");
    std::vector<trace::object_id> layers;
    std::vector<trace::object_id> inner;
    for (const auto* const path : {"layers.0", "layers.1"}) {
      layers.push_back(module(path, "Layer"));
      inner.push_back(module(std::string(path) + ".feed", "Feed"));
    }
    std::vector<block_number> kept;
    std::vector<block_number> cached;
    for (std::size_t i = 0; i < 2; ++i) {
      at = {phase::forward, root, line("model.py", 3), 1};
      const auto input = make(category::temporaries, 8 * mib);
      at = {phase::forward, inner[i], line("model.py", 7), 1};
      kept.push_back(keep(50 * mib));
      free(input);
      cached.push_back(keep(20 * mib));
      at.module = layers[i];
      kept.push_back(keep(mib));
    }
    at = {phase::forward, root, line("model.py", 9), 1};
    const auto last = keep(mib);
    at.during = phase::backward;
    for (std::size_t i = 2; i-- > 0;) {
      free(gradient_of(kept[2 * i], "MulBackward0", category::temporaries, 30 * mib));
      free({kept[2 * i], kept[2 * i + 1]});
    }
    // A long backward pass of what came before.
    at = {phase::backward, root, {}, 0};
    for (unsigned i = 0; i < 8; ++i) free(make(category::temporaries, mib));
    free(last);
    free(cached);
    end_step();
  }
};

}  // namespace

TEST_CASE("checkpointed modules keep their input, and what a cache holds stays") {
  caching_training run;
  const auto all = advice::checkpointing(run.evidence());
  REQUIRE_FALSE(all.empty());
  CHECK(all[0].amount == "Layer");
  // Now: 2 × (50 + 20 + 1), the last block, 30 of scratch.
  CHECK(peak_of(run.log()) == (142 + 1 + 30) * mib);
  // Then: two inputs, two caches, two outputs and the last block; of the second layer what it keeps
  // comes back, and what the cache would get again is given back at once.
  CHECK(peak_after(run, all[0]) == (16 + 40 + 2 + 1 + 50 + 30) * mib);
}
