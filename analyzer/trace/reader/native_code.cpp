// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trace/reader/native_code.h"

#include <charconv>
#include <cstdint>
#include <optional>

#include "memtrace/user_code.h"

namespace memtrace::trace {

namespace {

constexpr std::size_t most_libraries = 4096;

struct address_in {
  std::string_view function;  // that the library exports, as it is spelt there; empty: none
  std::uint64_t address = 0;
};

// "main+0x11f4", "+0x11f4"; older traces have the address only where no function is exported.
[[nodiscard]] std::optional<address_in> address_of(std::string_view text) {
  constexpr std::string_view mark = "+0x";
  const auto at = text.rfind(mark);
  if (at == text.npos)
    return text.starts_with("_Z") ? std::optional(address_in{text, 0}) : std::nullopt;
  address_in found{text.substr(0, at), 0};
  const auto digits = text.substr(at + mark.size());
  const auto end = digits.data() + digits.size();
  const auto read = std::from_chars(digits.data(), end, found.address, 16);
  if (read.ec != std::errc() || read.ptr != end) return std::nullopt;
  return found;
}

}  // namespace

// "IDENTITY FILE"
void native_code::learn(std::string_view text) {
  const auto space = text.find(' ');
  if (space == text.npos || libraries_.size() >= most_libraries) return;
  libraries_.insert_or_assign(std::string(text.substr(space + 1)),
                              std::string(text.substr(0, space)));
}

std::optional<dictionary::outcome> native_code::define(stack_id parent, frame_id innermost) {
  const auto& frames = shown(innermost);
  if (frames.empty()) return std::nullopt;
  auto made = parent;
  for (const auto frame : frames) {
    const auto known = stacks_.find({made, frame});
    const auto next = known == stacks_.end() ? names_.add_stack(made, frame) : known->second;
    if (!next) return dictionary::outcome::too_many;  // or too deep
    if (known == stacks_.end()) stacks_.emplace(std::pair(made, frame), next);
    made = next;
  }
  return names_.define_stack_as(made);
}

const std::vector<frame_id>& native_code::shown(frame_id recorded) {
  const auto [place, is_new] = shown_.try_emplace(recorded.value);
  if (is_new) place->second = look_up(recorded);
  return place->second;
}

std::vector<frame_id> native_code::look_up(frame_id recorded) {
  const auto frame = names_[recorded];
  if (frame.line != 0) return {};
  const auto where = address_of(names_[frame.function]);
  if (!where) return {};
  const std::string file(names_[frame.file]);
  const bool is_library = !is_user_code(file);
  std::vector<frame_id> made;
  const auto identity = libraries_.find(file);
  if (identity != libraries_.end() && (!is_library || where->function.empty())) {
    const auto places = symbols_->places_of(file, identity->second, where->address);
    if (is_library && !places.empty() && !places.back().function.empty()) {
      add(made, file, places.back().function, 0);
    } else if (!is_library) {
      for (auto place = places.rbegin(); place != places.rend(); ++place) {
        add(made, place->line == 0 ? file : place->file, place->function, place->line);
      }
    }
  }
  if (made.empty() && !where->function.empty()) {
    add(made, file, symbols::readable_name(where->function), 0);
  }
  return made;
}

void native_code::add(std::vector<frame_id>& to, std::string_view file, std::string_view function,
                      std::uint32_t line) {
  auto& known = frames_[{std::string(file), std::string(function), line}];
  if (!known) known = names_.add_frame(file, function, line);
  if (known) to.push_back(known);
}

}  // namespace memtrace::trace
