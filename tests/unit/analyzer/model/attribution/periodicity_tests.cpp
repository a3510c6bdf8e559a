// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/periodicity.h"

#include <map>
#include <random>
#include <string>

#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::inferred_steps;
using attribution::periodicity;

namespace {

constexpr const char* module_file = "/lib/site-packages/torch/nn/modules/module.py";
constexpr const char* layer_file = "/lib/site-packages/torch/nn/modules/rnn.py";

// A program that allocates, each block freed a few allocations later.
class program {
 public:
  explicit program(std::size_t window = std::size_t{1} << 19) : finder_(names_, window) {}

  // Outermost first: {"main:10", "forward:20"}; "module" stands for Module._call_impl, "layer" for
  // the forward() of one of PyTorch's own.
  program& at(const std::vector<std::string>& frames, std::uint64_t size = 1024) {
    return allocate(stack(frames), size, frames.size() > 1 && frames[1] == "module", {});
  }
  program& without_stack(std::uint64_t size) { return allocate({}, size, false, {}); }
  program& backward_of(const std::vector<std::string>& frames) {
    return allocate({}, 1024, false, stack(frames));
  }
  // Keeps what is allocated from now on.
  program& keep(bool kept) {
    keep_ = kept;
    return *this;
  }
  // A model's call runs from now on.
  program& in_call(bool runs) {
    in_call_ = runs;
    return *this;
  }
  // It records gradients.
  program& with_gradients() {
    gradients_ = true;
    return *this;
  }
  // A backward pass runs from now on.
  program& in_backward(bool runs) {
    in_backward_ = runs;
    return *this;
  }
  program& mark_step() {
    finder_.on_step({}, {});
    return *this;
  }
  [[nodiscard]] std::uint64_t next_event() const { return event_; }
  [[nodiscard]] inferred_steps steps() { return finder_.finish(); }
  [[nodiscard]] std::string line_of(const inferred_steps& found) const {
    return std::string(names_[names_[names_[found.anchor].innermost].function]);
  }

 private:
  program& allocate(trace::stack_id stack, std::uint64_t size, bool in_module,
                    trace::stack_id forward) {
    trace::event head;
    head.number = event_++;
    head.scope.module.value = in_module ? 1 : 0;
    head.scope.root.value = in_call_ ? 1 : 0;
    head.scope.forward = forward;
    if (gradients_) head.scope.flags |= format::scope_grad;
    if (in_backward_) head.scope.flags |= format::scope_backward;
    trace::allocator_event record;
    record.kind = format::kind::alloc;
    record.size = size;
    record.stack = stack;
    finder_.on_allocator(head, record);
    report(size);
    if (!keep_) {
      head.number = event_++;
      record.kind = format::kind::free_requested;
      finder_.on_allocator(head, record);
      report(~size + 1);
    }
    return *this;
  }

  void report(std::uint64_t difference) {
    live_ += difference;
    trace::report_event said;
    said.allocated = live_;
    finder_.on_report(said);
  }

  trace::stack_id stack(const std::vector<std::string>& frames) {
    std::uint32_t parent = 0;
    for (const auto& frame : frames) {
      auto& known = stacks_[{parent, frame}];
      if (known == 0) {
        const std::string text = frame == "module" ? "Module._call_impl" : frame;
        (void)names_.define_text(frame == "module"  ? module_file
                                 : frame == "layer" ? layer_file
                                                    : "/srv/ada/train.py");
        (void)names_.define_text(text);
        texts_ += 2;
        (void)names_.define_frame(texts_ - 1, texts_, 1);
        (void)names_.define_stack(parent, ++frames_);
        known = frames_;
      }
      parent = known;
    }
    return trace::stack_id{parent};
  }

  trace::dictionary names_;
  periodicity finder_;
  std::map<std::pair<std::uint32_t, std::string>, std::uint32_t> stacks_;
  std::uint32_t texts_ = 0;
  std::uint32_t frames_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t live_ = 0;
  bool keep_ = false;
  bool in_call_ = false;
  bool gradients_ = false;
  bool in_backward_ = false;
};

// Manual SGD on two layers: batch, forward, loss, backward, update.
void train_step(program& of, unsigned tokens = 1) {
  of.at({"main:10"});
  for (unsigned i = 0; i < tokens; ++i) {
    of.at({"main:11", "module", "forward:30"}).at({"main:11", "module", "forward:31"});
  }
  of.at({"main:12", "loss:40"});
  for (unsigned i = 0; i < tokens; ++i) of.backward_of({"main:11", "module", "forward:31"});
  of.at({"main:14"}).at({"main:15"}).at({"main:14"}).at({"main:15"});
}

}  // namespace

TEST_CASE("GIVEN manual SGD WHEN inferred THEN every pass of the loop is a step") {
  program of;
  of.keep(true);
  for (int i = 0; i < 40; ++i) of.at({"main:3", "build:50"}).at({"main:3", "build:51"});
  of.keep(false);
  std::vector<std::uint64_t> begins;
  for (int step = 0; step < 20; ++step) {
    begins.push_back(of.next_event());
    train_step(of);
  }
  const auto found = of.steps();
  CHECK(found.begins == begins);
  CHECK(of.line_of(found) == "main:10");
  CHECK(found.confidence > 0.8);
  const auto ends = found.ends();
  REQUIRE(ends.size() == 20);
  CHECK(ends.front() == begins[1]);
  CHECK(ends.back() == of.next_event() - 1);
}

TEST_CASE("GIVEN one forward that runs out of memory WHEN inferred THEN its layers are no steps") {
  program of;
  of.keep(true).in_call(true);
  for (int layer = 0; layer < 30; ++layer) {
    of.at({"main:11", "module", "forward:30"}).at({"main:11", "module", "forward:31"});
    of.at({"main:11", "module", "forward:32"});
  }
  const auto found = of.steps();
  CHECK(found.count() == 0);
  CHECK(found.has_few_calls);
}

TEST_CASE("GIVEN calls of a model one after another WHEN inferred THEN each is a step") {
  program of;
  for (int call = 0; call < 30; ++call) {
    of.in_call(true)
        .at({"main:11", "module", "forward:30"})
        .at({"main:11", "module", "forward:31"});
    of.in_call(false).at({"main:12"});
  }
  const auto found = of.steps();
  CHECK(found.count() == 30);
  CHECK_FALSE(found.has_few_calls);
}

TEST_CASE(
    "GIVEN a layer that is called by itself WHEN it asks for the same again THEN it is a call") {
  program of;
  of.keep(true).in_call(true).with_gradients();
  std::vector<std::uint64_t> begins;
  const std::vector<std::string> layer = {"main:11", "module", "layer"};
  for (int call = 0; call < 30; ++call) {
    begins.push_back(of.next_event());
    of.at(layer, 512).at(layer, 512).at(layer, 2048);
  }
  CHECK(of.steps().calls == begins);
}

TEST_CASE("GIVEN a layer that asks for something else each time THEN nobody knows its calls") {
  program of;
  of.keep(true).in_call(true).with_gradients();
  for (std::uint64_t call = 1; call < 30; ++call) of.at({"main:11", "module", "layer"}, call * 512);
  CHECK(of.steps().calls.size() == 1);
}

TEST_CASE("GIVEN few steps WHEN inferred THEN they are found, with less confidence") {
  program of;
  for (int step = 0; step < 4; ++step) train_step(of);
  const auto found = of.steps();
  CHECK(found.count() == 4);
  CHECK(found.confidence > 0.5);
  CHECK(found.confidence < 0.7);
}

TEST_CASE("GIVEN a program that marks its steps WHEN inferred THEN nothing is") {
  program of;
  for (int step = 0; step < 20; ++step) {
    train_step(of);
    if (step == 10) of.mark_step();
  }
  CHECK(of.steps().count() == 0);
}

TEST_CASE("GIVEN three repetitions WHEN inferred THEN it may be chance") {
  program of;
  for (int step = 0; step < 3; ++step) train_step(of);
  CHECK(of.steps().count() == 0);
}

TEST_CASE("GIVEN steps of varying length WHEN inferred THEN they are steps still") {
  program of;
  std::mt19937 random(7);
  for (int step = 0; step < 60; ++step) train_step(of, 10 + random() % 40);
  const auto found = of.steps();
  CHECK(found.count() == 60);
  CHECK(of.line_of(found) == "main:10");
}

TEST_CASE("GIVEN an evaluation every tenth step WHEN inferred THEN steps are those of training") {
  program of;
  for (int step = 0; step < 50; ++step) {
    train_step(of, 4);
    if (step % 10 != 9) continue;
    for (int batch = 0; batch < 3; ++batch) {
      of.at({"main:20", "evaluate:60"});
      for (int i = 0; i < 4; ++i) of.at({"main:20", "module", "forward:30"});
    }
  }
  const auto found = of.steps();
  CHECK(found.count() == 50);
  CHECK(of.line_of(found) == "main:10");
}

TEST_CASE("GIVEN epochs around steps WHEN inferred THEN steps are the finer") {
  program of;
  for (int epoch = 0; epoch < 15; ++epoch) {
    of.at({"main:5", "shuffle:70"});
    for (int step = 0; step < 12; ++step) {
      of.at({"main:6", "epoch:80"}).at({"main:6", "module", "forward:30"});
      of.at({"main:6", "epoch:82"}).at({"main:6", "epoch:83"});
    }
  }
  const auto found = of.steps();
  CHECK(found.count() == 180);
  CHECK(of.line_of(found) == "epoch:80");
}

TEST_CASE("GIVEN layers inside a module WHEN inferred THEN a layer is no step") {
  program of;
  for (int step = 0; step < 10; ++step) {
    of.at({"main:10"});
    for (int layer = 0; layer < 96; ++layer) {
      of.at({"main:11", "module", "forward:30"}).at({"main:11", "module", "forward:31"});
    }
  }
  CHECK(of.steps().count() == 10);
}

TEST_CASE("GIVEN a server whose loop is one line WHEN inferred THEN each call is a step") {
  program of;
  for (int request = 0; request < 30; ++request) {
    of.at({"main:11", "module", "forward:30"});
    for (int layer = 0; layer < 6; ++layer) {
      of.at({"main:11", "module", "forward:31", "module", "forward:40"});
      of.at({"main:11", "module", "forward:31", "module", "forward:41"});
    }
    of.at({"main:11", "module", "forward:33"});
  }
  CHECK(of.steps().count() == 30);
}

TEST_CASE("GIVEN C++ without stacks WHEN inferred THEN sizes that recur tell the steps") {
  program of;
  std::mt19937 random(3);
  for (int step = 0; step < 40; ++step) {
    const auto length = 100 + random() % 100;
    of.without_stack(4096).without_stack(length * 7000).without_stack(length * 7000);
    of.without_stack(1 << 20).without_stack(length * 30000).without_stack(512);
  }
  const auto found = of.steps();
  CHECK(found.count() == 40);
  CHECK(!found.anchor);
}

TEST_CASE("GIVEN allocations in random order WHEN inferred THEN there is no period") {
  program of;
  std::mt19937 random(11);
  for (int i = 0; i < 20000; ++i) {
    const auto line = random() % 1000;
    of.at({"main:10", "handle:" + std::to_string(line < 20 ? 100 : line % 30)});
  }
  CHECK(of.steps().count() == 0);
}

TEST_CASE("GIVEN sizes in random order WHEN inferred THEN there is no period") {
  program of;
  std::mt19937 random(5);
  for (int i = 0; i < 20000; ++i) of.without_stack(512 * (1 + random() % 50));
  CHECK(of.steps().count() == 0);
}

TEST_CASE("GIVEN a model loaded layer by layer WHEN inferred THEN layers are no steps") {
  program of;
  of.keep(true);
  for (int layer = 0; layer < 48; ++layer) {
    of.at({"main:3", "load:50"}).at({"main:3", "load:51"}).at({"main:3", "load:52"});
  }
  CHECK(of.steps().count() == 0);
}

TEST_CASE("GIVEN one place only, or nothing WHEN inferred THEN there is no period") {
  program of;
  for (int i = 0; i < 1000; ++i) of.at({"main:10"});
  CHECK(of.steps().count() == 0);
  program nothing;
  CHECK(nothing.steps().count() == 0);
}

TEST_CASE("GIVEN more steps than the window holds WHEN inferred THEN all are counted") {
  program of(256);
  std::vector<std::uint64_t> begins;
  for (int step = 0; step < 500; ++step) {
    begins.push_back(of.next_event());
    train_step(of);
  }
  CHECK(of.steps().begins == begins);
}

TEST_CASE("GIVEN a loop after another WHEN the window is full THEN the second one is found") {
  program of(256);
  for (int step = 0; step < 100; ++step) train_step(of);
  for (int request = 0; request < 100; ++request) {
    of.at({"serve:1"}).at({"serve:2", "module", "forward:30"}).at({"serve:3"});
  }
  const auto found = of.steps();
  CHECK(found.count() > 150);
  CHECK(of.line_of(found) == "serve:1");
}

TEST_CASE("GIVEN layers that are computed again in one backward pass THEN they are no steps") {
  const auto layer = [](program& of) {
    of.at({"main:12", "forward:30"}).at({"main:12", "forward:31"}).at({"main:12", "forward:32"});
  };
  program in_one;
  in_one.at({"main:11"}).in_backward(true);
  for (int i = 0; i < 24; ++i) layer(in_one);
  CHECK(in_one.steps().count() == 0);
  program in_each;
  for (int i = 0; i < 24; ++i) {
    in_each.at({"main:11"}).in_backward(true);
    layer(in_each);
    in_each.in_backward(false);
  }
  CHECK(in_each.steps().count() >= 20);
}
