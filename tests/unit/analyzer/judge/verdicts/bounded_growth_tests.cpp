// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/bounded_growth.h"

#include "memtrace/trace_format.h"

#include "tests/unit/catch.h"

using namespace memtrace;
using growth::shape;

namespace {

[[nodiscard]] verdicts::retainer buffer(std::uint64_t length, const char* container,
                                        std::uint32_t flags = format::held_bounded) {
  verdicts::retainer made;
  made.path = "replay[…]";
  made.container = container;
  made.length = length;
  made.flags = flags;
  made.bytes = length * 1024;
  return made;
}

[[nodiscard]] verdicts::suspect grows(double share, std::vector<verdicts::retainer> kept) {
  verdicts::suspect made;
  made.found.shape = shape::accumulating;
  made.share = share;
  made.bytes_per_step = 2048;
  made.retained_by = std::move(kept);
  return made;
}

[[nodiscard]] verdicts::findings one(std::vector<verdicts::suspect> suspects) {
  verdicts::findings made;
  verdicts::verdict about;
  about.found.shape = shape::accumulating;
  about.found.confidence = 0.9;
  about.steps_to_oom = 1000;
  about.suspects = std::move(suspects);
  made.verdicts.push_back(std::move(about));
  verdicts::find_bounds(made, trace::dictionary());
  return made;
}

}  // namespace

TEST_CASE("GIVEN growth in a deque with a maximum THEN it is a buffer that fills") {
  auto found = one({grows(1.0, {buffer(200, "deque(maxlen=1000)")})});
  verdicts::judge_bounded_growth(found);
  const auto& about = found.verdicts[0];
  CHECK(about.found.shape == shape::warmup_plateau);
  CHECK(about.suspects[0].found.shape == shape::warmup_plateau);
  CHECK(!about.steps_to_oom);
  // 800 elements of 1 KiB are missing, 2 KiB come a step.
  CHECK(about.found.more_steps_needed == 400);
  CHECK(about.summary ==
        "grows into `replay`, a deque(maxlen=1000) of 200, which is bounded, full in about 400 "
        "steps");
  CHECK(about.found.overturned_by ==
        "growth after `replay` is full at 1,000 elements (it held 200)");
}

TEST_CASE("GIVEN a deque that was last seen long ago THEN what has come since counts") {
  const auto judged = [](std::uint64_t blocks_by_now) {
    auto kept = buffer(200, "deque(maxlen=1000)");
    kept.blocks = 400;  // two for each element
    auto who = grows(1.0, {kept});
    who.blocks = blocks_by_now;
    auto found = one({who});
    verdicts::judge_bounded_growth(found);
    return found.verdicts[0];
  };
  CHECK(judged(1600).steps_to_bound == 100);  // 200 elements are missing
  CHECK(judged(2000).steps_to_bound == 0);
  CHECK(judged(2000).found.shape == shape::warmup_plateau);
  CHECK(judged(3000).found.shape == shape::accumulating);  // it has no place for all that
}

TEST_CASE("GIVEN a category whose growth is that of filling buffers THEN it fills, too") {
  auto found = one({grows(1.0, {buffer(200, "deque(maxlen=1000)")})});
  found.verdicts[0].suspects[0].what = attribution::category::activations;
  for (const double rate : {2048.0, 4096.0}) {
    auto& category = found.verdicts.emplace_back();
    category.about = {verdicts::subject_kind::category, 0, "activations"};
    category.found.shape = shape::accumulating;
    category.bytes_per_step = rate;
  }
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[1].found.shape == shape::warmup_plateau);
  CHECK(found.verdicts[2].found.shape == shape::accumulating);  // half of it is something else
}

TEST_CASE("GIVEN an evaluation's growth in a library's local variable THEN its call may end") {
  auto scores = buffer(6, "tuple", 0);
  scores.owner = "local of _sample";
  scores.file = "/venv/lib/python3.12/site-packages/transformers/generation/utils.py";
  scores.gets_longer = true;
  auto returned = buffer(256, "tuple", 0);
  returned.path = "out['scores'][…]";
  returned.at_exit_only = true;
  returned.blocks = 256;
  const auto answer = [](const verdicts::retainer& local, const verdicts::retainer& result,
                         attribution::phase during) {
    auto found = one({grows(1.0, {local, result})});
    found.verdicts[0].suspects[0].born_in = during;
    found.verdicts[0].suspects[0].found.evidence.steps = 500;
    verdicts::judge_bounded_growth(found);
    return found.verdicts[0].found.shape;
  };
  using attribution::phase;
  CHECK(answer(scores, returned, phase::evaluation) == shape::unknown);
  CHECK(answer(scores, returned, phase::forward) == shape::accumulating);
  auto own = scores;
  own.file = "/src/train.py";
  CHECK(answer(own, returned, phase::evaluation) == shape::accumulating);
  auto several = returned;  // results of three calls are kept
  several.blocks = 768;
  CHECK(answer(scores, several, phase::evaluation) == shape::accumulating);
  auto all_along = returned;
  all_along.at_exit_only = false;
  CHECK(answer(scores, all_along, phase::evaluation) == shape::accumulating);
}

TEST_CASE("GIVEN memory that CUDA graphs were captured with THEN there may be no more of them") {
  auto found = one({grows(1.0, {})});
  found.verdicts[0].suspects[0].captured = true;
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::unknown);
  REQUIRE(found.verdicts[0].doubt);
  CHECK(found.verdicts[0].doubt->kind == program::doubt_kind::captures);
}

TEST_CASE("GIVEN a plain list THEN nothing is taken back") {
  auto found = one({grows(1.0, {buffer(200, "list", 0)})});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::accumulating);
  CHECK(found.verdicts[0].steps_to_oom == 1000);
}

TEST_CASE("GIVEN a leak beside a filling buffer THEN the device still leaks") {
  auto found =
      one({grows(0.6, {buffer(200, "deque(maxlen=1000)")}), grows(0.4, {buffer(9, "list", 0)})});
  verdicts::judge_bounded_growth(found);
  const auto& about = found.verdicts[0];
  CHECK(about.found.shape == shape::accumulating);
  CHECK(about.suspects[0].found.shape == shape::warmup_plateau);
  CHECK(about.suspects[1].found.shape == shape::accumulating);
}

TEST_CASE("GIVEN a site whose memory lies half in a list THEN it is no filling buffer") {
  auto found = one({grows(1.0, {buffer(200, "deque(maxlen=1000)"), buffer(200, "list", 0)})});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::accumulating);
}

TEST_CASE(
    "GIVEN memory beside a bounded container WHEN it stays as it is THEN the container fills") {
  auto gradients = buffer(200, "", 0);
  gradients.path = "net.grad";
  gradients.heap_scans = 3;
  auto found = one({grows(1.0, {buffer(200, "deque(maxlen=1000)"), gradients})});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::warmup_plateau);
  gradients.bytes_per_step = 512;
  found = one({grows(1.0, {buffer(200, "deque(maxlen=1000)"), gradients})});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::accumulating);
}

TEST_CASE("GIVEN a bounded container without a known limit THEN nobody says when it is full") {
  auto found = one({grows(1.0, {buffer(200, "deque")})});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::warmup_plateau);
  CHECK(found.verdicts[0].found.more_steps_needed == 0);
}

TEST_CASE("GIVEN a container that is full only after memory has run out THEN it leaks") {
  auto found = one({grows(1.0, {buffer(200, "deque(maxlen=1000000)")})});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::accumulating);
  CHECK(found.verdicts[0].steps_to_oom == 1000);
}

TEST_CASE("GIVEN a list that a line of the program bounds THEN it fills, and the line is named") {
  auto kept = buffer(30, "list", 0);
  kept.bound = program::bound{program::bound_kind::length, "src/buffer.py", 13,
                              "len(replay) < self.limit", 50};
  auto found = one({grows(1.0, {kept})});
  verdicts::judge_bounded_growth(found);
  const auto& about = found.verdicts[0];
  CHECK(about.found.shape == shape::warmup_plateau);
  CHECK(about.summary ==
        "grows into `replay`, a list of 30, which the program bounds at 50 (buffer.py:13, "
        "`len(replay) < self.limit`), full in about 10 steps");
}

namespace {

[[nodiscard]] verdicts::suspect states(const char* path) {
  verdicts::retainer kept;
  kept.path = path;
  kept.bytes = 4096;
  auto made = grows(1.0, {kept});
  made.what = attribution::category::optimizer_states;
  made.generations = 12;
  return made;
}

[[nodiscard]] verdicts::suspect weights(bool modules_run) {
  auto made = grows(1.0, {});
  made.what = attribution::category::weights;
  made.modules_run = modules_run;
  return made;
}

[[nodiscard]] shape shape_with(verdicts::findings found) {
  verdicts::judge_bounded_growth(found);
  return found.verdicts[0].found.shape;
}

}  // namespace

TEST_CASE("GIVEN first states of parameters THEN they come to an end, unless parameters do not") {
  CHECK(shape_with(one({states("opt.state[…]['exp_avg']")})) == shape::warmup_plateau);
  CHECK(shape_with(one({states("opt.state[…]['history'][…]")})) == shape::accumulating);
  CHECK(shape_with(one({states("old_averages[…]")})) == shape::accumulating);
  CHECK(shape_with(one({states("fits[…].state[…]['exp_avg']")})) == shape::accumulating);
  CHECK(shape_with(one({weights(false), states("opt.state[…]['exp_avg']")})) ==
        shape::accumulating);
  CHECK(shape_with(one({weights(true), states("opt.state[…]['exp_avg']")})) ==
        shape::warmup_plateau);
}

TEST_CASE("GIVEN a model that is made larger THEN what goes with it is no leak either") {
  CHECK(shape_with(one({weights(true)})) == shape::warmup_plateau);
  CHECK(shape_with(one({weights(false)})) == shape::accumulating);
  auto gradients = grows(1.0, {});
  gradients.what = attribution::category::gradients;
  gradients.generations = 1;
  CHECK(shape_with(one({weights(true), gradients})) == shape::warmup_plateau);
  gradients.generations = 9;  // those of each step stay
  CHECK(shape_with(one({weights(true), gradients})) == shape::accumulating);
}

TEST_CASE("GIVEN modules that wrap each other THEN they are a leak, though all of them run") {
  auto adapters = weights(true);
  adapters.modules_wrap_each_other = true;
  CHECK(shape_with(one({adapters})) == shape::accumulating);
}

TEST_CASE("GIVEN bounded deques in a dictionary WHEN it gets longer THEN they bound nothing") {
  auto users = buffer(200, "dict");
  CHECK(shape_with(one({grows(1.0, {users})})) == shape::warmup_plateau);  // always the same ones
  users.gets_longer = true;
  CHECK(shape_with(one({grows(1.0, {users})})) == shape::accumulating);
  auto bounded_growth = buffer(200, "deque(maxlen=1000)");
  bounded_growth.gets_longer = true;  // towards its own bound
  CHECK(shape_with(one({grows(1.0, {bounded_growth})})) == shape::warmup_plateau);
}

TEST_CASE("GIVEN a full deque in another container THEN it bounds nothing") {
  auto crops = buffer(4, "deque(maxlen=4)");
  crops.is_full = true;
  CHECK(shape_with(one({grows(1.0, {crops})})) == shape::accumulating);
}

TEST_CASE("GIVEN more of what was there THEN a short run does not tell whether it goes on") {
  auto controls = buffer(45, "list", 0);
  controls.path = "clients[…].control[…]";
  controls.grows_in_place = true;
  auto growing = grows(1.0, {controls});
  growing.found.evidence.steps = 40;
  auto found = one({growing});
  verdicts::judge_bounded_growth(found);
  CHECK(found.verdicts[0].found.shape == shape::unknown);
  CHECK(found.verdicts[0].summary ==
        "grows so far in `clients[…].control`, a list of 45: whether it goes on is not settled, as "
        "no container there gets longer: more of what was there holds memory; about 59 more steps "
        "would tell");
}

TEST_CASE("GIVEN states under keys that nothing else has THEN they are no parameters' first ones") {
  verdicts::suspect states = grows(1.0, {});
  states.what = attribution::category::optimizer_states;
  states.generations = 12;
  states.retained_by.emplace_back().path = "optimizer.state[…]['first']";
  CHECK(shape_with(one({states})) == shape::warmup_plateau);
  states.retained_by[0].grows_in =
      verdicts::growing_level{"optimizer.state", 198, 0, 'k', false, false};
  CHECK(shape_with(one({states})) == shape::warmup_plateau);
  states.retained_by[0].grows_in->keys = 'n';
  CHECK(shape_with(one({states})) == shape::accumulating);
}

TEST_CASE("GIVEN a model that gets a few more parts THEN they need not all run") {
  auto heads = weights(false);
  heads.in_running_model = true;
  heads.generations = 5;
  CHECK(shape_with(one({heads})) == shape::accumulating);  // nobody knows whose they are
  heads.retained_by.emplace_back().path = "net.heads[…]";
  CHECK(shape_with(one({heads})) == shape::warmup_plateau);
  CHECK(shape_with(one({heads, states("opt.state[…]['exp_avg']")})) == shape::warmup_plateau);
  heads.generations = 12;
  CHECK(shape_with(one({heads})) == shape::accumulating);
  heads.generations = 5;
  auto of_list = heads;
  of_list.retained_by[0].container = "list";
  CHECK(shape_with(one({of_list})) == shape::accumulating);
  heads.in_running_model = false;
  CHECK(shape_with(one({heads})) == shape::accumulating);
}

TEST_CASE("GIVEN a table for each new size of the inputs THEN a dictionary of them fills") {
  auto grids = grows(1.0, {buffer(6, "dict", 0)});
  CHECK(shape_with(one({grids})) == shape::accumulating);
  grids.for_new_sizes = true;
  CHECK(shape_with(one({grids})) == shape::warmup_plateau);
  grids.retained_by[0].container = "list";  // of results, larger each time
  CHECK(shape_with(one({grids})) == shape::accumulating);
  grids.retained_by[0].container.clear();  // one table, reallocated
  CHECK(shape_with(one({grids})) == shape::warmup_plateau);
  grids.generations = 5;  // several, each with a name
  CHECK(shape_with(one({grids})) == shape::accumulating);
}

TEST_CASE("GIVEN gradients of weights that need one only now THEN there is one for each") {
  verdicts::retainer kept;
  kept.path = "net.grad";
  kept.bytes = 4096;
  auto slopes = grows(1.0, {kept});
  slopes.what = attribution::category::gradients;
  slopes.generations = 5;
  CHECK(shape_with(one({slopes})) == shape::accumulating);  // more than the weights are
  slopes.fits_weights = true;
  CHECK(shape_with(one({slopes})) == shape::warmup_plateau);
  CHECK(shape_with(one({slopes, weights(false)})) == shape::accumulating);
  auto listed = slopes;
  listed.retained_by[0].path = "slopes[…]";
  CHECK(shape_with(one({listed})) == shape::accumulating);
  auto with_graph = slopes;
  with_graph.retained_by[0].recorded_in_backward = 4096;
  CHECK(shape_with(one({with_graph})) == shape::accumulating);
}

TEST_CASE("GIVEN memory of the latest step alone WHEN each makes it anew THEN the work grows") {
  verdicts::retainer kept;
  kept.path = "answers[…]";
  kept.bytes = 4096;
  kept.reallocated = true;
  auto latest = grows(1.0, {kept});
  latest.generations = 1;
  CHECK(shape_with(one({latest})) == shape::warmup_plateau);
  latest.generations = 12;  // those of other steps are there, too
  CHECK(shape_with(one({latest})) == shape::accumulating);
  latest.generations = 1;
  latest.retained_by[0].reallocated = false;
  CHECK(shape_with(one({latest})) == shape::accumulating);
  latest.by_more_blocks = true;  // no tensor that is made larger
  CHECK(shape_with(one({latest})) == shape::warmup_plateau);
  latest.retained_by[0].made_of_itself = true;
  CHECK(shape_with(one({latest})) == shape::accumulating);
}

TEST_CASE(
    "GIVEN a container that may come to its end WHEN the run is short THEN it is not settled") {
  auto kept = buffer(8, "dict", 0);
  kept.doubt = program::doubt{program::doubt_kind::keys, "train.py", 25, "replay[key] = x"};
  auto masks = grows(1.0, {kept});
  masks.found.evidence.steps = 17;
  auto found = one({masks});
  verdicts::judge_bounded_growth(found);
  const auto& about = found.verdicts[0];
  CHECK(about.found.shape == shape::unknown);
  CHECK(about.found.more_steps_needed == 82);
  CHECK(!about.steps_to_oom);
  CHECK(
      about.summary ==
      "grows so far in `replay`, a dict of 8: whether it goes on is not settled, as a key that "
      "comes again adds nothing (train.py:25, `replay[key] = x`); about 82 more steps would tell");
  masks.found.evidence.steps = 100;
  CHECK(shape_with(one({masks})) == shape::accumulating);
  masks.found.evidence.steps = 17;
  masks.retained_by.push_back(buffer(8, "list", 0));  // that has no end
  CHECK(shape_with(one({masks})) == shape::accumulating);
}

TEST_CASE("GIVEN a container that the program empties later THEN the verdict is not a leak yet") {
  auto kept = buffer(16, "list", 0);
  kept.bound = program::bound{program::bound_kind::emptied, "train.py", 21, "step % 40 == 0", 40};
  auto outputs = grows(1.0, {kept});
  outputs.found.evidence.steps = 16;
  auto found = one({outputs});
  verdicts::judge_bounded_growth(found);
  const auto& about = found.verdicts[0];
  CHECK(about.found.shape == shape::warmup_plateau);
  CHECK(about.found.more_steps_needed == 24);
  CHECK(about.found.overturned_by == "growth after the program has emptied `replay`");
}

TEST_CASE("GIVEN first states beside gradients, or of one of few optimizers THEN they end, too") {
  auto beside = states("opt.state[…]['exp_avg']");
  beside.retained_by.emplace_back().path = "net.grad";
  CHECK(shape_with(one({beside})) == shape::warmup_plateau);
  beside.retained_by[1].path = "net.outputs[…]";
  CHECK(shape_with(one({beside})) == shape::accumulating);
  auto of_two = states("optimizers[…].state[…]['exp_avg']");
  CHECK(shape_with(one({of_two})) == shape::accumulating);  // nobody knows what gets longer
  of_two.retained_by[0].grows_in =
      verdicts::growing_level{"optimizers[…].state", 18, 0, 'k', false, false};
  CHECK(shape_with(one({of_two})) == shape::warmup_plateau);
  of_two.retained_by[0].grows_in->variable = "optimizers";
  CHECK(shape_with(one({of_two})) == shape::accumulating);
}
