// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/advice/program_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
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

loop_owner owner_of_loop(const blocks::evidence& of, const blocks::run_passes& passes) {
  std::set<trace::stack_id> seen;
  for (std::size_t block = 0; block < of.blocks.size() && seen.size() < most_stacks; ++block) {
    const auto stack = of.blocks[block].stack;
    if (passes.of_block[block] == blocks::activity::neither || !stack ||
        !seen.insert(stack).second) {
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

std::vector<code::source_frame> frames_around_model(const blocks::evidence& of,
                                                    trace::stack_id stack) {
  auto frames = code::frames_of(of.names, stack);
  const auto last = std::find_if(frames.rbegin(), frames.rend(), [](const auto& frame) {
    return frame.file.ends_with("torch/nn/modules/module.py");
  });
  frames.erase(frames.begin(), last.base());
  return frames;
}

std::string line_that_calls_model(const blocks::evidence& of, trace::stack_id stack) {
  const auto frames = frames_around_model(of, stack);
  const auto user = std::ranges::find_if(frames, &code::source_frame::user);
  return user == frames.end() ? std::string() : place_of(*user);
}

bool is_loaded(const blocks::evidence& of, trace::stack_id stack) {
  for (; stack; stack = of.names[stack].parent) {
    const auto file = of.names[of.names[of.names[stack].innermost].file];
    if (file.ends_with("torch/serialization.py") || file.ends_with("safetensors/torch.py"))
      return true;
  }
  return false;
}

bool passes_through(const blocks::evidence& of, trace::stack_id stack, std::string_view function) {
  for (; stack; stack = of.names[stack].parent) {
    const auto& frame = of.names[of.names[stack].innermost];
    if (of.names[frame.function] == function &&
        of.names[frame.file].ends_with("torch/nn/functional.py")) {
      return true;
    }
  }
  return false;
}

bool calls_function(const blocks::evidence& of, const blocks::run_passes& passes,
                    std::string_view name) {
  std::set<trace::stack_id> seen;
  for (std::size_t block = 0; block < of.blocks.size(); ++block) {
    if (passes.of_block[block] != blocks::activity::training) continue;
    const auto stack = of.blocks[block].stack;
    if (seen.insert(stack).second && passes_through(of, stack, name)) return true;
  }
  return false;
}

namespace {

// The option of the command line whose value is this number; empty: none, or several.
[[nodiscard]] std::string option_of(const std::vector<std::string>& words, std::uint64_t number) {
  const auto wanted = std::to_string(number);
  std::string found;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (!words[i].starts_with("-")) continue;
    const auto equals = words[i].find('=');
    const bool apart = equals == std::string::npos;
    const auto value = !apart                 ? words[i].substr(equals + 1)
                       : i + 1 < words.size() ? words[i + 1]
                                              : std::string();
    if (value != wanted) continue;
    if (!found.empty()) return {};
    found = text::printable(apart ? words[i] + " " + value : words[i]);
  }
  return found;
}

// Of tensors (first, rows, columns) that autograd keeps, the rows with most bytes; and the rows of
// tensors of four dimensions, which are the length where heads of attention are one of them.
struct inner_dimensions {
  std::uint64_t second = 0;
  std::set<std::uint64_t> of_four;
};
[[nodiscard]] inner_dimensions inner_dimensions_of(const blocks::evidence& of,
                                                   const blocks::run_passes& passes,
                                                   std::uint64_t first) {
  std::map<std::uint64_t, std::uint64_t> bytes_by_second;
  inner_dimensions found;
  for (allocator::block_number block = 0; block < of.blocks.size(); ++block) {
    const auto& facts = of.blocks[block];
    if (passes.of_block[block] != blocks::activity::training || !facts.kept_by_autograd) continue;
    if (facts.dimensions == 4) found.of_four.insert(facts.rows);
    const auto matrix = std::uint64_t{facts.rows} * facts.columns * facts.element_bits / 8;
    if (facts.dimensions != 3 || matrix == 0 || bytes_of(of, block) / matrix != first) continue;
    bytes_by_second[facts.rows] += bytes_of(of, block);
  }
  const auto most =
      std::ranges::max_element(bytes_by_second, {}, [](const auto& one) { return one.second; });
  if (most != bytes_by_second.end()) found.second = most->first;
  return found;
}

}  // namespace

std::string batch_option(const blocks::evidence& of, const blocks::run_passes& passes) {
  const auto kept = bytes_by_first_dimension(of, passes, blocks::activity::training);
  const auto most = std::ranges::max_element(
      kept, {}, [](const auto& of_dimension) { return of_dimension.second; });
  if (most == kept.end()) return {};
  const auto first = most->first;
  const auto words = command_of(of);
  const auto of_first = option_of(words, first);
  const auto inner = inner_dimensions_of(of, passes, first);
  const auto of_second = inner.second == 0 ? std::string() : option_of(words, inner.second);
  // (length, batch, width) is as usual as (batch, length, width). What is the length in attention
  // tells them apart.
  const bool first_is_length = inner.of_four.contains(first);
  const bool second_is_length = inner.of_four.contains(inner.second);
  if (first_is_length != second_is_length) return first_is_length ? of_second : of_first;
  return of_second.empty() ? of_first : std::string();
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
