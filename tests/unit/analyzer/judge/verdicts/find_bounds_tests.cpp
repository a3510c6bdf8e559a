// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/bounded_growth.h"

#include <span>
#include <string>

#include "analyzer/judge/verdicts/told_proofs.h"
#include "analyzer/trace/reader/reader.h"
#include "tests/unit/catch.h"
#include "tests/unit/support/trace_builder.h"

using namespace memtrace;

namespace {

// Weights that came to a list of models that is as long as it was.
[[nodiscard]] verdicts::suspect models_in_a_list() {
  verdicts::retainer held_by;
  held_by.path = "models[…]";
  held_by.grows_in_place = true;
  verdicts::suspect made;
  made.found.shape = growth::shape::accumulating;
  made.what = attribution::category::weights;
  made.generations = 14;
  made.retained_by.push_back(held_by);
  return made;
}

[[nodiscard]] std::optional<program::doubt> doubt_of(verdicts::suspect who) {
  verdicts::findings found;
  found.verdicts.emplace_back().suspects.push_back(std::move(who));
  verdicts::find_bounds(found, trace::dictionary());
  return found.verdicts[0].suspects[0].retained_by[0].doubt;
}

}  // namespace

TEST_CASE("GIVEN models in a list WHEN they run, or take turns THEN it may end with its places") {
  auto models = models_in_a_list();
  models.modules_run = true;
  REQUIRE(doubt_of(models));
  CHECK(doubt_of(models)->kind == program::doubt_kind::places);
  models.modules_run = false;
  models.modules_take_turns = true;
  CHECK(doubt_of(models));
}

TEST_CASE("GIVEN models in a list WHEN each has been trained and stays THEN nothing is in doubt") {
  CHECK_FALSE(doubt_of(models_in_a_list()));
}

namespace {

constexpr std::string_view store =
    "class Store:\n"
    "    def __init__(self):\n"
    "        self.items = []\n"
    "    def put(self, x):\n"
    "        if len(self.items) < 40:\n"
    "            self.items.append(x)\n";

// A list of 5 in a Store of the first of these files.
[[nodiscard]] verdicts::findings findings_with(const std::vector<std::string_view>& files,
                                               const std::vector<std::string>& proofs) {
  test::trace_builder trace;
  const std::string digest(64, 'd');
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto name = "/srv/ada/file" + std::to_string(i) + ".py";
    trace.source(name, files[i], {0, files[i].size(), 0, 1, digest});
  }
  for (const auto& proof : proofs) trace.info(format::info_key::proved, proof);
  const auto bytes = trace.bytes();
  trace::memory_source source(std::as_bytes(std::span(bytes)));
  auto reader = trace::reader::open(source);
  REQUIRE(reader);
  trace::record_visitor nobody;
  (void)reader->read(nobody);
  verdicts::retainer held_by;
  held_by.path = "store.items[…]";
  held_by.container = "list";
  held_by.length = 5;
  held_by.holder = "Store";
  held_by.owner = "local of main";
  held_by.file = "/srv/ada/file0.py";
  verdicts::suspect who;
  who.found.shape = growth::shape::accumulating;
  who.retained_by.push_back(held_by);
  verdicts::findings found;
  found.verdicts.emplace_back().suspects.push_back(std::move(who));
  verdicts::find_bounds(found, reader->names());
  return found;
}

// As a copy says it. Its suspect has no stack.
[[nodiscard]] std::string told_of(const verdicts::findings& found) {
  const trace::dictionary names;
  const auto proofs = verdicts::proofs_of(names, found);
  REQUIRE(proofs.size() == 1);
  return verdicts::written(names, proofs[0]);
}

[[nodiscard]] verdicts::retainer kept_with(const std::vector<std::string_view>& files,
                                           const std::vector<std::string>& proofs = {}) {
  return findings_with(files, proofs).verdicts[0].suspects[0].retained_by[0];
}

}  // namespace

TEST_CASE(
    "GIVEN a list that its own file bounds WHEN another puts into it THEN nothing is proved") {
  const auto bounded = kept_with({store});
  REQUIRE(bounded.bound);
  CHECK(bounded.bound->value == 40);
  CHECK(kept_with({store, "def show(store):\n    print(len(store.items))\n"}).bound);
  const auto open = kept_with({store, "def fill(store, x):\n    store.items.append(x)\n"});
  CHECK_FALSE(open.bound);
  REQUIRE(open.doubt);
  CHECK(open.doubt->file == "/srv/ada/file1.py");
}

TEST_CASE("GIVEN a trace without the program's text WHEN it says what was proved THEN that holds") {
  const auto told = told_of(findings_with({store}, {}));
  CHECK(told.find("len(") == told.npos);  // a piece of the program
  const auto copy = kept_with({}, {told});
  REQUIRE(copy.bound);
  CHECK(copy.bound->kind == program::bound_kind::length);
  CHECK(copy.bound->value == 40);
  CHECK(copy.bound->line == 5);
  CHECK(copy.bound->file == "/srv/ada/file0.py");
  CHECK_FALSE(kept_with({}).bound);
}

TEST_CASE("GIVEN a proof of something else, or none WHEN it is read THEN nothing is proved") {
  const auto told = told_of(findings_with({store}, {}));
  const auto changed = [&](const std::string& from, const std::string& to) {
    auto text = told;
    text.replace(text.find(from), from.size(), to);
    return text;
  };
  for (const auto& text :
       {changed("store.items", "store.other"), changed("local of main", "local of other"),
        changed("file0", "file9"), changed("length", "never"), changed("40", "-1"),
        told.substr(0, told.rfind('\x1f')), std::string(7, '\x1f'), std::string()}) {
    INFO(text);
    CHECK_FALSE(kept_with({}, {text}).bound);
  }
}
