// SPDX-License-Identifier: Apache-2.0
//
// Each kind of cause from the evidence that it leaves: what a heap scan says of the retainer, what
// the allocation's frames and category are. And what must not be advised without that evidence.
#include <initializer_list>
#include <string>

#include "analyzer/judge/advice/remedies/remedies.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::category;
using attribution::phase;

namespace {

struct cause {
  std::string path = {};
  std::string container = {};
  std::uint32_t flags = 0;
  std::string owner = "local of main";
  std::string holder = {};
  category what = category::activations;
  phase born_in = phase::forward;
  std::string frame_file = "/srv/ada/train.py";
  growth::shape shape = growth::shape::accumulating;
  std::uint64_t blocks = 100;
  std::uint64_t bytes = 100u << 20;
  std::uint64_t births = 100;
  bool has_backward = true;
};

[[nodiscard]] trace::stack_id one_frame(trace::dictionary& names, std::string_view file) {
  (void)names.define_text(file);
  (void)names.define_text("f");
  (void)names.define_frame(1, 2, 10);
  (void)names.define_stack(0, 1);
  return trace::stack_id{1};
}

[[nodiscard]] std::optional<verdicts::remedy> remedy_of(const cause& given) {
  trace::dictionary names;
  verdicts::findings found;
  auto& about = found.verdicts.emplace_back();
  about.found.shape = given.shape;
  auto& who = about.suspects.emplace_back();
  who.stack = one_frame(names, given.frame_file);
  who.what = given.what;
  who.born_in = given.born_in;
  who.found.shape = given.shape;
  who.blocks = given.blocks;
  who.bytes = given.bytes;
  who.generations = given.births;
  who.bytes_per_step = 1 << 20;
  if (!given.path.empty() || given.flags != 0) {
    auto& held_by = who.retained_by.emplace_back();
    held_by.path = given.path;
    held_by.container = given.container;
    held_by.flags = given.flags;
    held_by.owner = given.owner;
    held_by.holder = given.holder;
    held_by.length = given.blocks;
  }
  remedies::prescribe(found, names, {{}, given.has_backward});
  return found.verdicts[0].suspects[0].fix;
}

[[nodiscard]] std::string id_of(const cause& given) {
  const auto found = remedy_of(given);
  return found ? found->id : std::string();
}

[[nodiscard]] bool says(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

constexpr auto graph = format::held_has_graph | format::held_graph;

}  // namespace

TEST_CASE("GIVEN losses in a list with their graphs THEN they are to be detached") {
  const auto found = remedy_of({.path = "losses[…].grad_fn", .container = "list", .flags = graph});
  REQUIRE(found);
  CHECK(found->id == "kept_with_graph");
  CHECK(says(found->cause, "`losses` keeps"));
  CHECK(says(found->change, "x.item()"));
  CHECK(found->saves_bytes_per_step == 1 << 20);
}

TEST_CASE("GIVEN results with their graphs of which most are the results THEN they go to the CPU") {
  CHECK(id_of({.path = "self.outputs[…]",
               .container = "list",
               .flags = format::held_has_graph,
               .what = category::collected}) == "results_with_graph");
}

TEST_CASE("GIVEN one variable whose graph grows THEN it is a sum, or a recurrent state") {
  CHECK(id_of({.path = "total_loss.grad_fn", .flags = graph}) == "growing_sum");
  CHECK(id_of({.path = "h.grad_fn",
               .flags = graph,
               .frame_file = "/x/site-packages/torch/nn/modules/rnn.py"}) == "recurrent_state");
  const auto other = remedy_of({.path = "x.grad_fn", .flags = graph});
  REQUIRE(other);
  CHECK(says(other->change, "`x = x.detach()`"));
}

TEST_CASE("GIVEN gradients with a graph THEN autograd.grad is advised") {
  const auto found =
      remedy_of({.path = "model.weight.grad.grad_fn", .flags = graph | format::held_gradient});
  REQUIRE(found);
  CHECK(found->id == "create_graph_cycle");
  CHECK(says(found->change, "torch.autograd.grad"));
  CHECK(says(found->caution, "gc.collect()"));
}

TEST_CASE("GIVEN a traceback THEN recovery goes outside of except") {
  const auto found = remedy_of(
      {.path = "error", .flags = format::held_traceback, .owner = "traceback of OutOfMemoryError"});
  REQUIRE(found);
  CHECK(found->id == "exception_frames");
  CHECK(says(found->cause, "OutOfMemoryError"));
  CHECK(says(found->change, "Leave the `except` block"));
  const auto stored = remedy_of(
      {.path = "errors[…]", .container = "list", .flags = format::held_traceback | graph});
  REQUIRE(stored);
  CHECK(stored->id == "kept_error");
  CHECK(says(stored->change, "`str(error)`"));
}

TEST_CASE("GIVEN a hook THEN its handle is to be removed") {
  CHECK(id_of({.path = "forward hook on encoder.0", .flags = format::held_hook | graph}) ==
        "hook_keeps");
}

TEST_CASE("GIVEN views THEN they are to be copied") {
  const auto found =
      remedy_of({.path = "embeddings[…]", .container = "list", .flags = format::held_view});
  REQUIRE(found);
  CHECK(found->id == "kept_view");
  CHECK(says(found->change, "clone()"));
}

TEST_CASE("GIVEN results of evaluation in a list THEN they go to the CPU") {
  cause given = {.path = "preds[…]", .container = "list", .born_in = phase::evaluation};
  CHECK(id_of(given) == "evaluation_results");
  given.frame_file = "/x/site-packages/transformers/trainer.py";
  const auto found = remedy_of(given);
  REQUIRE(found);
  CHECK(says(found->change, "eval_accumulation_steps"));
}

TEST_CASE("GIVEN embeddings in a list THEN each is to be used where it is made") {
  const auto found =
      remedy_of({.path = "train_embeddings[…]", .container = "list", .what = category::outputs});
  REQUIRE(found);
  CHECK(found->id == "collected_results");
  CHECK(says(found->change, "`train_embeddings.clear()`"));
  CHECK(says(found->caution, "empty_cache()"));
  CHECK(id_of({.path = "seen[…]", .container = "list", .what = category::inputs}) ==
        "collected_batches");
}

TEST_CASE("GIVEN containers without a limit THEN they are to be bounded") {
  CHECK(id_of({.path = "cache[…]", .container = "dict"}) == "unbounded_cache");
  const auto found = remedy_of({.path = "encode", .container = "lru_cache"});
  REQUIRE(found);
  CHECK(found->id == "unbounded_cache");
  CHECK(says(found->change, "maxsize"));
  CHECK(id_of({.path = "jobs.queue[…]", .container = "deque", .holder = "Queue"}) ==
        "unbounded_queue");
}

TEST_CASE("GIVEN a deque without a limit THEN it is to get one") {
  const auto found = remedy_of({.path = "recent[…]", .container = "deque"});
  REQUIRE(found);
  CHECK(found->id == "unbounded_deque");
  CHECK(says(found->change, "`recent = deque(maxlen=…)`"));
}

TEST_CASE("GIVEN memory that nothing leads to, by a backward that recorded THEN it is that cycle") {
  trace::dictionary names;
  verdicts::findings found;
  auto& about = found.verdicts.emplace_back();
  about.found.shape = growth::shape::accumulating;
  for (const auto what : {category::weights, category::gradients}) {
    auto& who = about.suspects.emplace_back();
    who.what = what;
    auto& held_by = who.retained_by.emplace_back();
    held_by.flags = format::held_unreachable;
    held_by.recorded_in_backward = what == category::gradients ? 512 : 0;
  }
  remedies::prescribe(found, names, {});
  for (const auto& who : about.suspects) {
    REQUIRE(who.fix);
    CHECK(who.fix->id == "create_graph_cycle");
    CHECK(says(who.fix->cause, "Probably"));
  }
}

TEST_CASE("GIVEN a bounded container THEN nothing is advised") {
  CHECK(
      id_of({.path = "replay[…]", .container = "deque(maxlen=1000)", .flags = format::held_bounded})
          .empty());
}

TEST_CASE("GIVEN a metric THEN reset") {
  CHECK(id_of({.path = "m.preds[…]",
               .container = "list",
               .frame_file = "/x/site-packages/torchmetrics/utilities/data.py"}) == "metric_state");
}

TEST_CASE("GIVEN outputs of an epoch THEN they are cleared at its end") {
  CHECK(id_of({.path = "loop._items[…]",
               .container = "list",
               .frame_file = "/x/site-packages/lightning/pytorch/loops/fit.py"}) ==
        "epoch_outputs");
}

TEST_CASE("GIVEN scalars in a list THEN they are kept as numbers") {
  CHECK(id_of({.path = "history[…]", .container = "list", .blocks = 100, .bytes = 51'200}) ==
        "numbers_as_tensors");
}

TEST_CASE("GIVEN weights or states that pile up THEN model and optimizer are made once") {
  CHECK(id_of({.path = "best[…]", .container = "list", .what = category::weights}) ==
        "copies_of_model");
  CHECK(id_of({.path = "o.state", .what = category::optimizer_states}) == "optimizer_again");
}

TEST_CASE("GIVEN one block that grows THEN it is to be allocated once") {
  CHECK(id_of({.path = "bank", .what = category::outputs, .blocks = 1, .births = 1}) ==
        "growing_tensor");
}

TEST_CASE("GIVEN no name THEN a cycle is to be broken") {
  const auto found = remedy_of({.flags = format::held_unreachable,
                                .what = category::outputs,
                                .shape = growth::shape::sawtooth_leak});
  REQUIRE(found);
  CHECK(found->id == "reference_cycle");
  CHECK(says(found->cause, "garbage collector"));
}

TEST_CASE("GIVEN activations that no name leads to THEN it is a graph rather than a cycle") {
  const auto found = remedy_of({.flags = format::held_unreachable});
  REQUIRE(found);
  CHECK(found->id == "growing_graph");
}

TEST_CASE("GIVEN graphs and no backward pass THEN nothing has to be recorded") {
  const auto found = remedy_of({.path = "x.grad_fn", .flags = graph, .has_backward = false});
  REQUIRE(found);
  CHECK(found->id == "unused_graphs");
  CHECK(says(found->change, "torch.no_grad()"));
  // The results themselves would stay all the same.
  CHECK(id_of({.path = "kept[…].grad_fn",
               .container = "list",
               .flags = graph,
               .what = category::outputs,
               .has_backward = false}) == "results_with_graph");
}

TEST_CASE("GIVEN gradients in a list THEN the list grows, and no model is made again") {
  CHECK(id_of({.path = "seen[…]", .container = "list", .what = category::gradients}) ==
        "collected_results");
  CHECK(id_of({.path = "model.weight.grad",
               .flags = format::held_gradient,
               .what = category::gradients}) == "optimizer_again");
}

TEST_CASE("GIVEN activations and no census THEN the graph is named as probable") {
  const auto found = remedy_of({});
  REQUIRE(found);
  CHECK(found->id == "growing_graph");
  CHECK(says(found->cause, "probably"));
}

TEST_CASE("GIVEN memory of no known keeper and kind THEN nothing is advised") {
  CHECK(id_of({.what = category::unknown}).empty());
  CHECK(id_of({.what = category::temporaries}).empty());
}

TEST_CASE("GIVEN something else that keeps it THEN that is named") {
  const auto found = remedy_of({.path = "self.last", .what = category::outputs});
  REQUIRE(found);
  CHECK(found->id == "kept_somewhere");
  CHECK(says(found->cause, "`self.last`"));
}

TEST_CASE("GIVEN verdicts that no line is to blame for THEN they have a remedy of their own") {
  const auto remedy_for = [](verdicts::subject_kind kind, const char* name, const char* conf) {
    verdicts::findings found;
    auto& about = found.verdicts.emplace_back();
    about.about = {kind, 0, name};
    about.found.shape = growth::shape::accumulating;
    about.bytes_per_step = 4096;
    trace::dictionary names;
    remedies::prescribe(found, names, {conf});
    return found.verdicts[0].fix;
  };
  using verdicts::subject_kind;
  const auto reserved = remedy_for(subject_kind::reserved, "", "");
  REQUIRE(reserved);
  CHECK(reserved->id == "growing_reserved");
  CHECK(says(reserved->change, "expandable_segments:True"));
  CHECK(reserved->saves_bytes_per_step == 4096);
  const auto already = remedy_for(subject_kind::reserved, "", "expandable_segments:True");
  REQUIRE(already);
  CHECK(!says(already->change, "Set PYTORCH"));
  CHECK(remedy_for(subject_kind::outside, "", "")->id == "growing_outside");
  CHECK(remedy_for(subject_kind::host, "workers", "")->id == "growing_workers");
  CHECK(remedy_for(subject_kind::host, "pinned", "")->id == "growing_pinned");
  CHECK(remedy_for(subject_kind::host, "process", "")->id == "growing_host");
  CHECK(!remedy_for(subject_kind::device, "", ""));
}

TEST_CASE("GIVEN memory that does not leak THEN nothing is advised") {
  CHECK(id_of({.path = "losses[…]",
               .container = "list",
               .flags = graph,
               .shape = growth::shape::warmup_plateau})
            .empty());
}

TEST_CASE("GIVEN a model that gets more parameters THEN it is not told to keep one copy") {
  CHECK(id_of({.path = "model", .what = category::weights}) == "growing_model");
  CHECK(id_of({.path = "kept[…]", .container = "list", .what = category::weights}) ==
        "copies_of_model");
}

TEST_CASE("GIVEN an optimizer's own dictionary THEN it is no cache to be bounded") {
  CHECK(id_of({.path = "optimizer.state[…]['exp_avg']",
               .container = "defaultdict",
               .what = category::optimizer_states,
               .born_in = phase::optimizer}) != "unbounded_cache");
}

TEST_CASE("GIVEN memory that fills and is emptied THEN it is not told to be bounded or reset") {
  const cause metric{.path = "metric.values[…]",
                     .container = "list",
                     .holder = "Metric",
                     .shape = growth::shape::sawtooth};
  CHECK_FALSE(remedy_of(metric));
  CHECK(id_of({.path = "self.outputs[…]",
               .container = "list",
               .frame_file = "/x/site-packages/lightning/pytorch/loops/fit.py",
               .shape = growth::shape::sawtooth}) == "epoch_outputs");
}

TEST_CASE("GIVEN a list inside of others THEN nobody is told to clear the outer one") {
  const auto fix = remedy_of({.path = "trainer.callbacks[…].states[…]", .container = "list"});
  REQUIRE(fix);
  CHECK_FALSE(says(fix->change, ".clear()"));
  CHECK(says(fix->cause, "trainer.callbacks[…].states"));
}
