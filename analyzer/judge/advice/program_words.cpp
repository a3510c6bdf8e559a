// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/program_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <vector>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/units.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/judge/advice/batch_share.h"
#include "analyzer/judge/verdicts/retainer_words.h"
#include "analyzer/trace/code/frames.h"

namespace memtrace::advice {

namespace {

// So many call stacks are looked at to find out who runs the loop.
constexpr std::size_t most_stacks = 64;

[[nodiscard]] std::string place_of(const code::source_frame& frame) {
  return text::printable(
      fmt::format("{}:{} {}", text::file_name(frame.file), frame.line, frame.function));
}

[[nodiscard]] loop_owner owner_in(const blocks::evidence& of, trace::stack_id stack) {
  for (auto node = of.names[stack]; stack; stack = node.parent, node = of.names[stack]) {
    const auto file = of.names[of.names[node.innermost].file];
    if (file.ends_with("transformers/trainer.py")) return loop_owner::transformers;
    if (file.find("lightning/pytorch/") != file.npos ||
        file.find("pytorch_lightning/") != file.npos) {
      return loop_owner::lightning;
    }
  }
  return loop_owner::program;
}

[[nodiscard]] std::vector<std::string> command_of(const blocks::evidence& of) {
  std::vector<std::string> words(1);
  for (const char letter : of.replayed.info(format::info_key::command)) {
    if (letter == '\0') {
      words.emplace_back();
    } else {
      words.back().push_back(letter);
    }
  }
  return words;
}

}  // namespace

loop_owner owner_of_loop(const blocks::evidence& of, const run_passes& passes) {
  std::set<trace::stack_id> seen;
  for (std::size_t block = 0; block < of.blocks.size() && seen.size() < most_stacks; ++block) {
    const auto stack = of.blocks[block].stack;
    if (passes.of_block[block] == activity::neither || !stack || !seen.insert(stack).second) {
      continue;
    }
    const auto owner = owner_in(of, stack);
    if (owner != loop_owner::program) return owner;
  }
  return loop_owner::program;
}

std::string line_of(const blocks::evidence& of, trace::stack_id stack) {
  const auto frames = code::frames_of(of.names, stack);
  const auto user = std::ranges::find_if(frames, &code::source_frame::user);
  return user == frames.end() ? std::string() : place_of(*user);
}

std::string line_that_calls_module(const blocks::evidence& of, trace::stack_id stack) {
  const auto frames = code::frames_of(of.names, stack);
  const auto is_call = [](const code::source_frame& frame) {
    return frame.file.ends_with("torch/nn/modules/module.py");
  };
  auto frame = std::find_if(frames.begin(), frames.end(), is_call);
  frame = std::find_if_not(frame, frames.end(), is_call);
  return frame == frames.end() ? std::string() : place_of(*frame);
}

std::string batch_option(const blocks::evidence& of, const run_passes& passes) {
  const auto kept = kept_by_first_dimension(of, passes);
  const auto most = std::ranges::max_element(
      kept, {}, [](const auto& of_dimension) { return of_dimension.second; });
  if (most == kept.end()) return {};
  const auto batch = std::to_string(most->first);
  const auto words = command_of(of);
  std::string found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-")) continue;
    const auto equals = words[i].find('=');
    const bool apart = equals == std::string::npos;
    const auto value = !apart                 ? words[i].substr(equals + 1)
                       : i + 1 < words.size() ? words[i + 1]
                                              : std::string();
    if (value != batch) continue;
    if (!found.empty()) return {};
    found = text::printable(apart ? words[i] + " " + value : words[i]);
  }
  return found;
}

bool computes_in_bfloat16(const blocks::evidence& of) {
  constexpr std::uint64_t first_major = 8;  // CUDA C++ programming guide, arithmetic instructions
  const auto* const device = of.replayed.device(of.log.device);
  const auto major = device == nullptr ? 0 : device->facts.compute_major;
  return major == 0 || major >= first_major;
}

std::string bytes_in_words(std::uint64_t bytes) {
  return text::format_bytes(bytes);
}

std::string share_in_words(std::uint64_t part, std::uint64_t whole) {
  const auto share =
      whole == 0 ? 0.0 : 100.0 * static_cast<double>(part) / static_cast<double>(whole);
  return fmt::format("{:.0f} %", share);
}

}  // namespace memtrace::advice
