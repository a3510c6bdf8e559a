// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/frames.h"

#include <algorithm>

#include "memtrace/user_code.h"

namespace memtrace::code {

bool is_user_code(std::string_view file) {
  return memtrace::is_user_code(file);
}

bool is_model_library(std::string_view file) {
  for (const std::string_view packages : {"/site-packages/", "/dist-packages/"}) {
    const auto at = file.rfind(packages);
    if (at != file.npos) return !file.substr(at + packages.size()).starts_with("torch/");
  }
  return false;
}

std::vector<source_frame> frames_of(const trace::dictionary& names, trace::stack_id stack) {
  std::vector<source_frame> frames;
  frames.reserve(names[stack].depth);
  while (stack) {
    const auto node = names[stack];
    const auto frame = names[node.innermost];
    const auto file = names[frame.file];
    frames.push_back(
        {std::string(file), frame.line, std::string(names[frame.function]), is_user_code(file)});
    stack = node.parent;
  }
  // Machine code of which no line is known says less than what called it: PyTorch's C++ library, say,
  // wherever it is unpacked.
  const auto is_compiled_line = [](const source_frame& frame) {
    return frame.user && frame.line != 0 && frame.file.front() != '<' &&
           !frame.file.ends_with(".py");
  };
  if (std::ranges::any_of(frames, is_compiled_line)) {
    for (auto& frame : frames) frame.user = frame.user && frame.line != 0;
  }
  return frames;
}

std::optional<std::string_view> source_of(const trace::dictionary& names, std::string_view file) {
  const auto* const found = names.source_of(file);
  if (found == nullptr || found->state() != trace::source_state::usable) return std::nullopt;
  return found->text;
}

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  return lines;
}

}  // namespace memtrace::code
