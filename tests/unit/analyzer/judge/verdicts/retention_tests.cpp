// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/retention.h"

#include "analyzer/judge/verdicts/retainer_words.h"
#include "tests/unit/analyzer/judge/verdicts/heap_scans.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using test::heap_scans;

namespace {

constexpr std::uint64_t mebibyte = 1u << 20;

void elements(heap_scans& all, std::uint32_t site, unsigned count, std::uint64_t bytes) {
  const auto detail =
      "list|" + std::to_string(count) + "|local of fit|/srv/ada/train.py|80|Trainer";
  for (unsigned i = 0; i < count; ++i) all.held(site, "self.outputs[…]", detail, bytes);
}

}  // namespace

TEST_CASE("GIVEN a list that grows from census to census THEN it keeps its site, with its rate") {
  heap_scans all;
  for (const unsigned step : {10u, 20u, 40u}) {
    all.begin(step);
    elements(all, 7, step, 2 * mebibyte);
    all.held(7, "x", "||local of fit|/srv/ada/train.py|80|", 4 * mebibyte);
    all.held(8, "model.weight", "dict|2|global of __main__|/srv/ada/train.py||Net", 64 * mebibyte);
    all.end();
  }
  const auto kept = all.kept.of_site(0, 7);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].path == "self.outputs[…]");
  CHECK(kept[0].container == "list");
  CHECK(kept[0].length == 40);
  CHECK(kept[0].owner == "local of fit");
  CHECK(kept[0].file == "/srv/ada/train.py");
  CHECK(kept[0].line == 80);
  CHECK(kept[0].holder == "Trainer");
  CHECK(kept[0].bytes == 80 * mebibyte);
  CHECK(kept[0].blocks == 40);
  CHECK(kept[0].bytes_per_step == 2.0 * mebibyte);
  CHECK(kept[0].heap_scans == 3);
  CHECK(kept[1].path == "x");
  CHECK(kept[1].bytes_per_step == 0);
  CHECK(verdicts::describe(kept[0]) ==
        "`self.outputs`, a list of 40 in Trainer, from fit (train.py:80)");
  const auto others = all.kept.of_site(0, 8);
  REQUIRE(others.size() == 1);
  CHECK(others[0].bytes_per_step == 0);
  CHECK(all.kept.of_site(1, 7).empty());
  CHECK(all.kept.of_site(0, 9).empty());
}

TEST_CASE("GIVEN growth and a larger constant holder THEN growth comes first") {
  heap_scans all;
  for (const unsigned step : {1u, 2u, 3u}) {
    all.begin(step);
    all.held(1, "cache", "dict|1|global of __main__|a.py||", 512 * mebibyte);
    all.held(1, "losses[…]", "list|1|global of __main__|a.py||", step * 512);
    all.end();
  }
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].path == "losses[…]");
  CHECK(kept[0].bytes_per_step == 512);
}

TEST_CASE("GIVEN a path seen in one census only THEN it is named, without a rate") {
  heap_scans all;
  all.begin(5, format::census_reason::out_of_memory);
  all.held(1, "batches[…]", "list|3|local of main|a.py|3|", mebibyte);
  all.end();
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].heap_scans == 1);
  CHECK(kept[0].bytes_per_step == 0);
}

TEST_CASE("GIVEN censuses at other places of a step THEN only those of one reason are compared") {
  heap_scans all;
  // At high water a step holds what it computes, at its end it does not.
  for (const unsigned step : {1u, 2u, 3u, 4u}) {
    all.begin(step, format::census_reason::step);
    all.held(1, "history[…]", "list|1|global of __main__|a.py||", step * mebibyte);
    all.end();
    all.begin(step, format::census_reason::high_water);
    all.held(1, "out", "||local of step|a.py|9|", 100 * mebibyte);
    all.end();
  }
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(!kept.empty());
  CHECK(kept[0].path == "history[…]");
  CHECK(kept[0].bytes_per_step == mebibyte);
}

TEST_CASE("GIVEN a run whose locals are gone at exit THEN the growth before still counts") {
  heap_scans all;
  for (const unsigned step : {1u, 2u, 3u}) {
    all.begin(step, format::census_reason::high_water);
    elements(all, 1, step, mebibyte);
    all.end();
  }
  all.begin(4, format::census_reason::exit);
  all.end();
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].bytes_per_step == mebibyte);
  CHECK(kept[0].bytes == 3 * mebibyte);
  CHECK(kept[0].length == 3);
}

TEST_CASE("GIVEN a variable that holds the latest block of a site only THEN it keeps no other") {
  heap_scans all;
  for (const unsigned step : {1u, 2u, 4u, 8u}) {
    all.begin(step);
    all.held(1, "batch", "||local of train|a.py|9|", mebibyte, 0, 0, step * mebibyte);
    all.end();
  }
  CHECK(all.kept.of_site(0, 1).empty());
}

TEST_CASE("GIVEN censuses while a program takes itself down THEN what they miss has a keeper") {
  heap_scans all;
  for (const unsigned step : {2u, 5u, 9u, 16u, 28u, 29u, 30u}) {
    all.begin(step);
    if (step < 29) {  // from there on the names are gone, the memory not yet
      all.held(0, "model.weight", "||local of main|a.py|1|", 4 * mebibyte);
      for (unsigned i = 0; i < step; ++i) {
        all.held(1, "total_loss.grad_fn", "||local of main|a.py|1|", 1024, format::held_graph);
      }
    }
    all.end();
  }
  const auto kept = all.kept.of_site(0, 1, true);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].path == "total_loss.grad_fn");
  CHECK(kept[0].bytes_per_step > 0);
  const auto lost = all.kept.unnamed(0, 1, 1024, 1024);
  REQUIRE(lost);
  CHECK(lost->seen_at_step == 28);
}

TEST_CASE(
    "GIVEN memory that stays WHEN later censuses do not see who held it THEN that is not who") {
  heap_scans all;
  all.begin(0, format::census_reason::high_water);
  all.held(1, "fast.grad", "", 1024, format::held_gradient | format::held_has_graph, 0, 1024);
  all.end();
  for (const unsigned step : {2u, 5u, 9u}) {
    all.begin(step);
    all.end();
  }
  CHECK(all.kept.of_site(0, 1).size() == 1);
  CHECK(all.kept.of_site(0, 1, true).empty());
  // Three of its blocks were there at step 5 and at step 9.
  const auto lost = all.kept.unnamed(0, 1, 1024, 1024);
  REQUIRE(lost);
  CHECK(lost->heap_scans == 2);
  CHECK(lost->flags == (format::held_unreachable | format::held_gradient | format::held_has_graph));
  CHECK(verdicts::describe(*lost) == "no name leads to it: a reference cycle, or C++ alone");
  CHECK(!all.kept.unnamed(0, 1, 10, 1024));
}

TEST_CASE("GIVEN censuses that reached a limit THEN what they did not find may still be there") {
  heap_scans all;
  all.begin(1);
  all.held(1, "x[…]", "list|1|||", 1024, 0, 0, 1024);
  all.end();
  all.begin(9);
  all.end(format::census_incomplete);
  CHECK(all.kept.of_site(0, 1, true).size() == 1);
  CHECK(!all.kept.unnamed(0, 2, 1024, 1024));
}

TEST_CASE("GIVEN a site that also made a large workspace THEN what fills beside it is still kept") {
  heap_scans all;
  const std::uint64_t workspace = 17 * mebibyte;
  for (const unsigned filled : {1u, 4u, 8u, 2u}) {
    all.begin(filled);
    for (unsigned i = 0; i < filled; ++i) {
      all.held(1, "outputs[…]", "list|8|||", mebibyte / 8, 0, 0, workspace + filled * mebibyte / 8);
    }
    all.end();
  }
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].path == "outputs[…]");
}

TEST_CASE("GIVEN blocks of a backward that recorded a graph THEN their bytes are told") {
  heap_scans all;
  all.begin(3);
  all.scope.flags = format::scope_backward | format::scope_grad;
  all.held(1, "p.grad", "", 1024);
  all.scope.flags = format::scope_backward;
  all.held(1, "p.grad", "", 512);
  all.end();
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].recorded_in_backward == 1024);
  CHECK(kept[0].seen_at_step == 3);
}

TEST_CASE("GIVEN flags on part of the bytes THEN a path has those of at least half") {
  heap_scans all;
  all.begin(1);
  all.held(1, "x[…]", "list|3|||", 100, format::held_view | format::held_graph);
  all.held(1, "x[…]", "list|3|||", 100, format::held_view);
  all.held(1, "x[…]", "list|3|||", 100);
  all.end();
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].flags == format::held_view);
}

TEST_CASE("GIVEN a thousand censuses THEN memory stays bounded and the rate right") {
  heap_scans all;
  for (unsigned step = 1; step <= 1000; ++step) {
    all.begin(step);
    all.held(1, "x[…]", "list|" + std::to_string(step) + "|||", std::uint64_t{step} * 1024);
    all.end();
  }
  const auto kept = all.kept.of_site(0, 1);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].bytes_per_step == 1024);
  CHECK(kept[0].heap_scans <= 64);
  CHECK(kept[0].bytes == 1000 * 1024);
  CHECK(all.kept.counts().taken == 1000);
}

TEST_CASE("GIVEN more paths than are told apart THEN the others are counted") {
  heap_scans all;
  all.begin(1);
  for (unsigned i = 0; i < 20'000; ++i) all.held(1, "x" + std::to_string(i), "", 512);
  all.held_without_block("y");
  all.end(format::census_incomplete);
  CHECK(all.kept.counts().storages == 20'001);
  CHECK(all.kept.counts().unlinked == 1);
  CHECK(all.kept.counts().elided == 20'000 - 16'384);
  CHECK(all.kept.counts().incomplete == 1);
}

TEST_CASE("GIVEN a census that was cut off THEN the next one starts afresh") {
  heap_scans all;
  all.begin(1);
  all.held(1, "x", "", 512);
  all.begin(2);
  all.end();
  CHECK(all.kept.counts().taken == 1);
  all.held(1, "x", "", 512);  // outside of any heap scan
  CHECK(all.kept.counts().storages == 1);
}

TEST_CASE("GIVEN what holds memory THEN its words are those that a person would use") {
  verdicts::retainer held_by;
  held_by.path = "losses[…].grad_fn";
  held_by.container = "list";
  held_by.length = 1200;
  held_by.owner = "global of __main__";
  held_by.file = "/a/b/train.py";
  held_by.flags = format::held_graph;
  CHECK(verdicts::variable_of(held_by) == "losses");
  CHECK(verdicts::describe(held_by) ==
        "`losses`, a list of 1,200, global of __main__ (train.py), through autograd's graph");
  held_by = {};
  held_by.path = "h.grad_fn";
  held_by.owner = "local of main";
  held_by.file = "rnn.py";
  held_by.line = 4;
  CHECK(verdicts::variable_of(held_by) == "h");
  CHECK(verdicts::describe(held_by) == "`h`, from main (rnn.py:4)");
  held_by.flags = format::held_unreachable;
  CHECK(verdicts::describe(held_by) == "no name leads to it: a reference cycle, or C++ alone");
}

TEST_CASE("GIVEN the name of a bounded container THEN its limit is read") {
  CHECK(verdicts::limit_of("deque(maxlen=50)") == 50);
  CHECK(verdicts::limit_of("lru_cache(maxsize=128)") == 128);
  CHECK(verdicts::limit_of("deque") == 0);
  CHECK(verdicts::limit_of("deque(maxlen=None)") == 0);
  CHECK(verdicts::limit_of("x=") == 0);
}

TEST_CASE("GIVEN a container WHEN censuses find it longer and longer THEN that is said") {
  heap_scans all;
  for (const unsigned step : {5u, 6u, 8u}) {
    all.begin(step);
    const auto users = std::to_string(6 * step);
    all.held(1, "windows[…]", "dict|" + users + "|local of main|a.py|3|", 6 * step * 1024);
    all.held(2, "classes[…]", "dict|10|local of main|a.py|3|", 10 * step * 1024);
    all.end();
  }
  CHECK(all.kept.of_site(0, 1).at(0).gets_longer);
  CHECK_FALSE(all.kept.of_site(0, 2).at(0).gets_longer);
}

TEST_CASE(
    "GIVEN a dictionary with words for keys WHEN there are more of them THEN it is what grows") {
  heap_scans all;
  const std::vector<std::string> tenants = {"acme", "borealis", "cobalt", "delta"};
  for (const unsigned step : {10u, 20u, 30u}) {
    all.begin(step);
    for (unsigned i = 0; i <= step / 10; ++i) {
      all.held(7, "store.loaded['" + tenants[i] + "']",
               "dict|4|local of main|/srv/ada/serve.py|9|Store", mebibyte);
    }
    all.end();
  }
  const auto kept = all.kept.of_site(0, 7);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].path == "store.loaded[…]");
  CHECK(kept[0].blocks == 4);
  CHECK(kept[0].bytes == 4 * mebibyte);
  CHECK(kept[0].bytes_per_step == mebibyte / 10.0);
  CHECK(kept[0].gets_longer);
}

TEST_CASE("GIVEN containers in one another WHEN one gets longer THEN that is where it grows") {
  heap_scans all;
  for (const unsigned step : {5u, 8u, 12u}) {
    all.begin(step);
    const auto tracks = std::to_string(step - 2);
    // The deque is longer at first, then the list.
    const std::string longest = step == 5 ? "deque(maxlen=4)|4" : "list|" + tracks;
    for (unsigned i = 0; i < step; ++i) {
      all.held(3, "tracker.removed[…].crops[…]",
               longest + "|local of main|a.py|3|||" + tracks + ",4<4", mebibyte,
               format::held_bounded);
    }
    all.end();
  }
  const auto kept = all.kept.of_site(0, 3);
  REQUIRE(kept.size() == 1);
  CHECK(kept[0].heap_scans == 3);
  REQUIRE(kept[0].grows_in);
  CHECK(kept[0].grows_in->variable == "tracker.removed");
  CHECK(kept[0].grows_in->length == 10);
  CHECK(verdicts::variable_of(kept[0]) == "tracker.removed");
  CHECK_FALSE(verdicts::is_bounded_by_kind(kept[0]));
  CHECK_FALSE(kept[0].grows_in_place);
}

TEST_CASE("GIVEN containers that stay as long WHEN they hold more THEN it is in place") {
  heap_scans all;
  for (const unsigned step : {5u, 8u, 12u}) {
    all.begin(step);
    for (unsigned i = 0; i < step; ++i)
      all.held(4, "clients[…].control[…]", "list|45|local of main|a.py|3|||45,6", mebibyte);
    all.held(5, "caches[…].keys", "list|3|local of main|a.py|3|||3", step * mebibyte);
    all.end();
  }
  const auto controls = all.kept.of_site(0, 4).at(0);
  CHECK(controls.grows_in_place);
  CHECK_FALSE(controls.grows_itself);
  CHECK_FALSE(controls.grows_in);
  const auto keys = all.kept.of_site(0, 5).at(0);
  CHECK(keys.grows_itself);
  CHECK_FALSE(keys.grows_in_place);
  CHECK(verdicts::variable_of(keys) == "caches[…].keys");
}

TEST_CASE("GIVEN a failed request THEN the heap scan of that moment says what kept the memory") {
  heap_scans all;
  all.begin(3, format::census_reason::out_of_memory);
  all.held(1, "model", "||global of __main__|train.py||", 64 * mebibyte);
  all.held(2, "found[…]", "list|9|local of embed|train.py|8|", 512 * mebibyte);
  all.held(3, "found[…]", "list|9|local of embed|train.py|8|", 256 * mebibyte);
  all.end();
  all.begin(3, format::census_reason::exit);
  all.held(1, "model", "||global of __main__|train.py||", 64 * mebibyte);
  all.end();
  const auto kept = all.kept.at_failure(0, true);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].path == "found[…]");
  CHECK(kept[0].bytes == 768 * mebibyte);  // of both lines
  CHECK(kept[1].path == "model");
  CHECK(all.kept.at_failure(1, true).empty());
}

TEST_CASE("GIVEN an error that ended the program THEN its frames are not why memory is there") {
  constexpr auto in_frames = format::held_traceback;
  heap_scans all;
  all.begin(3, format::census_reason::out_of_memory);
  all.end(format::census_incomplete);
  all.begin(3, format::census_reason::exit);
  all.held(1, "found[…]", "list|9|traceback of OutOfMemoryError|train.py|8|", 512 * mebibyte,
           in_frames);
  all.held(2, "errors[…].__traceback__", "list|2|traceback of OutOfMemoryError|train.py|8|",
           128 * mebibyte, in_frames);
  all.end();
  const auto kept = all.kept.at_failure(0, true);
  REQUIRE(kept.size() == 2);
  CHECK(kept[0].flags == 0);
  CHECK(verdicts::describe(kept[0]) == "`found`, a list of 9 (train.py:8)");
  CHECK(kept[1].flags == in_frames);  // a variable has this one
  CHECK(verdicts::variable_of(kept[1]) == "errors");
  // Of one that was caught, what there was at the end says nothing.
  CHECK(all.kept.at_failure(0, false).empty());
}

TEST_CASE(
    "GIVEN growth further out than the innermost container THEN its class is not the innermost's") {
  verdicts::retainer held_by;
  held_by.path = "memory[…][…]";
  held_by.container = "tuple";
  held_by.length = 3;
  held_by.grows_in = verdicts::growing_level{.variable = "memory", .length = 40};
  CHECK(verdicts::describe(held_by) == "`memory`, with 40 elements");
  CHECK(verdicts::container_class(held_by) == "list");
  held_by.length = 40;  // as long by chance
  CHECK(verdicts::container_class(held_by) == "list");
  held_by.grows_in->keys = 'n';
  CHECK(verdicts::describe(held_by) == "`memory`, a dict of 40");
  CHECK(verdicts::container_class(held_by) == "dict");
  held_by.grows_in->variable = "memory[…]";
  CHECK(verdicts::container_class(held_by) == "tuple");
}

TEST_CASE("GIVEN a path through what a library keeps to itself THEN the object's class is named") {
  verdicts::retainer held_by;
  held_by.path = "trainer._data_connector._hooks.model.outputs[…]";
  held_by.container = "list";
  CHECK(verdicts::name_of(held_by) == "`trainer._data_connector._hooks.model.outputs`");
  held_by.holder = "LitModel";
  CHECK(verdicts::name_of(held_by) == "`LitModel.outputs`");
  held_by.path = "self._buffer.items[…]";
  CHECK(verdicts::name_of(held_by) == "`self._buffer.items`");
}
