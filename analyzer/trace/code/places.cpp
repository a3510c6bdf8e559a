// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/code/places.h"

#include <fmt/core.h>

#include <algorithm>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/utf8.h"
#include "memtrace/user_code.h"

namespace memtrace::code {

namespace {

// Functions as Python names them; of nested ones the last part says enough.
[[nodiscard]] std::string_view short_function(std::string_view function) {
  constexpr std::string_view local = "<locals>.";
  const auto at = function.rfind(local);
  return at == function.npos ? function : function.substr(at + local.size());
}

}  // namespace

const source_frame* innermost_user(std::span<const source_frame> frames) {
  const auto found = std::ranges::find_if(frames, &source_frame::user);
  return found == frames.end() ? nullptr : &*found;
}

// The innermost frame that is the user's, or a model library's while one of its modules runs (what
// trainers and optimizers of libraries do, is told by the line that calls them).
const source_frame* telling_frame(std::span<const source_frame> frames) {
  const auto library = std::ranges::find_if(
      frames, [](const source_frame& frame) { return frame.user || is_model_library(frame.file); });
  const bool in_module = std::any_of(library, frames.end(), [](const source_frame& frame) {
    return frame.file.ends_with("torch/nn/modules/module.py");
  });
  const auto* const user = innermost_user(frames);
  if (library == frames.end() || (user != nullptr && !in_module)) return user;
  return &*library;
}

std::string place_of(const source_frame& frame, unsigned parts) {
  if (frame.line == 0) {  // a native frame, or outer ones left out
    const std::string_view file = text::last_components(frame.file, parts);
    return text::printable(fmt::format("{}{}{}", file, file.empty() ? "" : " ", frame.function));
  }
  return text::printable(fmt::format("{}:{} {}", text::last_components(frame.file, parts),
                                     frame.line, short_function(frame.function)));
}

bool is_of_autograd(std::string_view thread) {
  return thread.starts_with("pt_autograd");
}

std::string place_without_user(const std::vector<source_frame>& frames, const std::string& thread) {
  if (!frames.empty() && frames.back().file == format::before_recording) {
    return "before the recording";
  }
  if (!frames.empty()) return place_of(frames.back(), 2) + " (library code)";
  if (is_of_autograd(thread)) return "backward pass (forward line not known)";
  if (thread.empty()) return "no Python frame";
  return text::printable(fmt::format("no Python frame (thread {})", thread));
}

// How many last components of its path a file needs to differ from the others.
std::map<std::string_view, unsigned> needed_parts(const std::set<std::string_view>& files) {
  std::map<std::string_view, unsigned> needed;
  for (const auto file : files) {
    unsigned parts = 1;
    const auto clashes = [&] {
      return std::ranges::count_if(files, [&](std::string_view other) {
               return text::last_components(other, parts) == text::last_components(file, parts);
             }) > 1;
    };
    while (parts < 8 && clashes()) ++parts;
    needed[file] = parts;
  }
  return needed;
}

std::string short_place(const std::vector<source_frame>& frames, const std::string& thread) {
  const auto* const telling = telling_frame(frames);
  return telling == nullptr ? place_without_user(frames, thread) : place_of(*telling, 1);
}

std::string place_of_request(const std::vector<source_frame>& frames,
                             const std::vector<source_frame>& forward, const std::string& thread) {
  const bool of_forward = telling_frame(frames) == nullptr && telling_frame(forward) != nullptr;
  return of_forward ? "backward of " + short_place(forward, {}) : short_place(frames, thread);
}

std::string describe_place(const std::vector<source_frame>& frames, const std::string& thread) {
  const auto* const user = innermost_user(frames);
  const auto place = short_place(frames, thread);
  return user == nullptr || user == telling_frame(frames) ? place
                                                          : place + " from " + place_of(*user, 1);
}

}  // namespace memtrace::code
