// SPDX-License-Identifier: Apache-2.0
//
// A moment in words: what is folded, what is named, and that every list sums to the total.
#include "analyzer/run/model/memory_view.h"

#include "analyzer/run/model/module_tree.h"
#include "analyzer/run/model/user_lines.h"
#include "analyzer/show/terminal/parts.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using attribution::block_group;
using attribution::composition;
using attribution::module_row;

namespace {

constexpr std::uint64_t mib = 1u << 20;

// train.py:1 main ─► stack 1, and below it model.py:2 forward ─► stack 2
[[nodiscard]] trace::dictionary two_stacks() {
  trace::dictionary names;
  for (const auto* text : {"train.py", "main", "model.py", "forward", "MmBackward0"}) {
    (void)names.define_text(text);
  }
  (void)names.define_thread(4711, 0);
  (void)names.define_frame(1, 2, 1);
  (void)names.define_frame(3, 4, 2);
  (void)names.define_stack(0, 1);
  (void)names.define_stack(1, 2);
  return names;
}

[[nodiscard]] block_group group(attribution::category what, attribution::evidence how,
                                const char* rule, std::uint32_t stack, std::uint64_t bytes) {
  block_group made;
  made.what = what;
  made.how = how;
  made.rule = rule;
  made.site = {stack, false};
  made.held = {bytes, 1};
  return made;
}

[[nodiscard]] composition example() {
  composition held;
  held.groups = {
      group(attribution::category::activations, attribution::evidence::annotated,
            "kept_by_autograd", 2, 60 * mib),
      group(attribution::category::activations, attribution::evidence::inferred,
            "freed_by_backward", 2, 30 * mib),
      group(attribution::category::temporaries, attribution::evidence::inferred, "within_backward",
            0, 8 * mib),
      group(attribution::category::weights, attribution::evidence::annotated, "module_parameter", 1,
            5 * mib),
  };
  held.groups[0].attention_scores = true;
  held.groups[1].recomputed = true;
  held.groups[2].site = {1, true};
  held.groups[2].forward.value = 2;
  held.groups[2].node.value = 5;
  block_group lost;
  lost.held = {2 * mib, 0};
  held.groups.push_back(lost);
  held.unrecorded = 2 * mib;
  held.total = 105 * mib;
  return held;
}

[[nodiscard]] module_row module(const char* path, std::uint32_t parent, std::uint64_t activations) {
  module_row row;
  row.root = "GPT";
  row.path = path;
  row.type = *path == '\0' ? "GPT" : "Block";
  row.parent = parent;
  row.bytes[attribution::category::activations] = activations;
  row.total = activations;
  return row;
}

}  // namespace

TEST_CASE("GIVEN groups of blocks WHEN viewed THEN categories sum up with evidence and rules") {
  const auto names = two_stacks();
  const auto view = run::view_of(names, example());
  REQUIRE(view.categories.size() == 4);
  const auto& activations = view.categories[0];
  CHECK(activations.what == attribution::category::activations);
  CHECK(activations.bytes == 90 * mib);
  CHECK(activations.blocks == 2);
  CHECK(activations.how == attribution::evidence::annotated);
  CHECK(activations.evidence_bytes[attribution::evidence::inferred] == 30 * mib);
  CHECK(activations.attention_scores == 60 * mib);
  CHECK(activations.recomputed == 30 * mib);
  REQUIRE(activations.rules.size() == 2);
  CHECK(activations.rules[0].rule == "kept_by_autograd");
  CHECK(view.categories[3].what == attribution::category::unknown);
  CHECK(view.categories[3].rules.empty());
  std::uint64_t sum = 0;
  for (const auto& row : view.categories) sum += row.bytes;
  CHECK(sum == view.total);
}

TEST_CASE("GIVEN groups of one place WHEN viewed THEN a site has one row for each category") {
  const auto names = two_stacks();
  const auto view = run::view_of(names, example());
  REQUIRE(view.sites.size() == 3);
  CHECK(view.sites[0].bytes == 90 * mib);
  CHECK(view.sites[0].frames[0].function == "forward");
  CHECK(view.sites[1].frames.empty());
  CHECK(view.sites[1].forward[0].function == "forward");
  CHECK(view.sites[1].node == "MmBackward0");
  std::uint64_t sum = view.unrecorded;
  for (const auto& site : view.sites) sum += site.bytes;
  CHECK(sum == view.total);
}

TEST_CASE("GIVEN memory of a backward pass WHEN folded THEN it is named by its forward line") {
  const auto names = two_stacks();
  const auto lines = run::fold_to_user_lines(run::view_of(names, example()).sites);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0].where == "model.py:2 forward");
  CHECK(lines[1].where == "backward of model.py:2 forward (MmBackward0)");
  CHECK(lines[1].what == attribution::category::temporaries);
  run::call_site gone;
  gone.node = "torch::autograd::AccumulateGrad";
  gone.thread = "pt_autograd_0";
  CHECK(run::fold_to_user_lines({gone})[0].where ==
        "backward pass (torch::autograd::AccumulateGrad)");
}

TEST_CASE("GIVEN blocks WHEN viewed THEN each knows its site in the list") {
  const auto names = two_stacks();
  auto held = example();
  held.blocks = {{0x1000, 8 * mib, 17, 2}, {0x2000, 5 * mib, 3, 3}};
  const auto view = run::view_of(names, held);
  REQUIRE(view.blocks.size() == 2);
  CHECK(view.blocks[0].what == attribution::category::temporaries);
  CHECK(view.sites[view.blocks[0].call_site].node == "MmBackward0");
  CHECK(view.blocks[1].rule == "module_parameter");
  CHECK(view.sites[view.blocks[1].call_site].what == attribution::category::weights);
}

TEST_CASE("GIVEN repeated layers WHEN folded THEN they are one row, opened where most lies") {
  CHECK(run::without_numbers("encoder.layer.11.attention") == "encoder.layer.*.attention");
  CHECK(run::without_numbers("conv1") == "conv1");
  CHECK(run::without_numbers("") == "");
  std::vector<module_row> rows(1);
  rows[0].total = 7;
  rows[0].bytes[attribution::category::inputs] = 7;
  rows.push_back(module("", 0, 1));
  rows.push_back(module("h", 1, 0));
  for (std::uint32_t layer = 0; layer < 12; ++layer) {
    const auto path = "h." + std::to_string(layer);
    rows.push_back(module(path.c_str(), 2, 100));
    rows.push_back(module((path + ".attn").c_str(), 3 + 2 * layer, 900));
  }
  const auto lines = run::fold_modules(rows, 4);
  REQUIRE(!lines.empty());
  CHECK(lines[0].name == "GPT.h.*.attn");
  CHECK(lines[0].modules == 12);
  CHECK(lines[0].total == 12 * 900);
  CHECK(run::label_of(lines[0]) == "GPT.h.*.attn (12 × Block)");
  CHECK(run::common_start(lines) == "GPT");
  CHECK(run::label_of(lines[1], "GPT") == "h.* (12 × Block)");
  CHECK(run::label_of(lines[1]) == "GPT.h.* (12 × Block)");
  std::uint64_t sum = 0;
  for (const auto& line : lines) sum += line.total;
  CHECK(sum == 7 + 1 + 12 * 1000);

  const auto tree = run::module_tree(rows);
  REQUIRE(tree.size() == 4);
  CHECK(tree[1].line.name == "GPT.h.*");
  CHECK(tree[0].line.total == 1 + 12 * 1000);
  CHECK(tree[2].depth == 2);
  CHECK(tree[2].line.name == "GPT.h.*.attn");
  CHECK(run::label_of(tree[3].line) == "in no module");
}

TEST_CASE("GIVEN a moment WHEN rendered THEN shares, evidence and remarks stand beside the bytes") {
  const auto names = two_stacks();
  const auto view = run::view_of(names, example());
  text::page out;
  terminal::add_categories(out, view, "What it is", 8);
  const auto text = out.render(false, 0);
  CHECK(text.find("90 MiB  85.7 %  activations       66.7 % annotated, 33.3 % inferred") !=
        std::string::npos);
  CHECK(text.find("60 MiB attention scores") != std::string::npos);
  CHECK(text.find("30 MiB recomputed") != std::string::npos);
  CHECK(text.find("weights           annotated\n") != std::string::npos);
  CHECK(text.find("2 MiB in blocks whose allocation was not recorded") != std::string::npos);
}
