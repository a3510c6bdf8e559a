// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/expectations.h"

#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "analyzer/base/text/parts.h"
#include "analyzer/base/text/utf8.h"
#include "analyzer/judge/verdicts/verdict.h"
#include "analyzer/trace/code/places.h"

namespace memtrace::verdicts {

namespace {

// A path in parts: a name, then ".attribute", "['key']" and "[…]".
struct path_part {
  std::size_t end = 0;  // in the path, behind it
  std::string_view text;
  std::string_view class_name;  // of the object that has the attribute; empty: not known
};

[[nodiscard]] std::size_t end_of_part(std::string_view path, std::size_t begin) {
  if (!path.substr(begin).starts_with("['")) {
    return std::min(path.find_first_of(".[", begin + 1), path.size());
  }
  const auto end = path.find("']", begin);
  return end == path.npos ? path.size() : end + 2;
}

[[nodiscard]] std::vector<path_part> parts_of(const retainer& held_by) {
  const std::string_view path = held_by.path;
  std::vector<path_part> made;
  std::size_t attributes = 0;
  for (std::size_t at = 0; at < path.size();) {
    path_part one;
    one.end = end_of_part(path, at);
    one.text = path.substr(at, one.end - at);
    if (one.text.starts_with('.') && attributes < held_by.classes.size()) {
      one.class_name = held_by.classes[attributes];
    }
    attributes += one.text.starts_with('.') ? 1 : 0;
    at = one.end;
    made.push_back(one);
  }
  return made;
}

// The path from there on, up to each of its parts: what keeps memory is in all of them.
[[nodiscard]] bool is_any_part_of(std::string_view pattern, const std::string& first,
                                  std::string_view path, std::size_t begin,
                                  const std::vector<path_part>& parts) {
  return std::ranges::any_of(parts, [&](const path_part& one) {
    if (one.end <= begin) return false;
    return text::matches(pattern, first + std::string(path.substr(begin, one.end - begin)));
  });
}

[[nodiscard]] bool covers_path(std::string_view pattern, const retainer& held_by) {
  const auto parts = parts_of(held_by);
  if (is_any_part_of(pattern, {}, held_by.path, 0, parts)) return true;
  return std::ranges::any_of(parts, [&](const path_part& one) {
    const auto begin = one.end - one.text.size();
    return !one.class_name.empty() &&
           (text::matches(pattern, one.class_name) ||
            is_any_part_of(pattern, std::string(one.class_name), held_by.path, begin, parts));
  });
}

// A tensor has its gradient and its graph, and nothing else is in it.
[[nodiscard]] bool goes_on(std::string_view path, std::size_t end, const expected_object& object) {
  const auto rest = path.substr(end);
  return !object.is_tensor || rest.empty() || rest.starts_with(".grad");
}

[[nodiscard]] bool is_of(const expected_object& object, const retainer& held_by) {
  const auto parts = parts_of(held_by);
  const auto last = object.path.rfind('.');
  const auto attribute =
      last == object.path.npos ? std::string_view() : std::string_view(object.path).substr(last);
  const bool has_owner =
      held_by.owner == object.owner && held_by.file == object.file && held_by.line == object.line;
  return std::ranges::any_of(parts, [&](const path_part& one) {
    if (!goes_on(held_by.path, one.end, object)) return false;
    const bool by_owner =
        has_owner && one.end == object.path.size() && held_by.path.starts_with(object.path);
    const bool by_class =
        !object.holder.empty() && one.class_name == object.holder && one.text == attribute;
    return by_owner || by_class;
  });
}

// "train.py:31", with as much of the path before it as the pattern has.
[[nodiscard]] bool covers_place(std::string_view pattern, const code::source_frame& frame) {
  if (text::matches(pattern, frame.function)) return true;
  if (frame.line == 0) return false;
  const auto place = fmt::format("{}:{}", frame.file, frame.line);
  for (std::size_t at = 0; at != place.npos;) {
    if (text::matches(pattern, std::string_view(place).substr(at))) return true;
    const auto slash = place.find('/', at);
    at = slash == place.npos ? slash : slash + 1;
  }
  return false;
}

}  // namespace

std::string_view name_of(said_by who) {
  return who == said_by::program ? "program" : "file";
}

std::vector<expectation> said_by_program(const trace::dictionary& names) {
  std::vector<expectation> made;
  for (const auto& one : names.expectations()) {
    const bool is_object = (one.flags & format::expectation_object) != 0;
    const bool is_nameless = (one.flags & format::expectation_nameless) != 0;
    const auto what = std::string(names[one.what]);
    expectation said{said_by::program,
                     what,
                     std::string(names[one.why]),
                     std::string(names[one.said_in]),
                     one.said_at,
                     is_object,
                     {}};
    const auto known = std::ranges::find_if(made, [&](const expectation& other) {
      return is_object && other.of_objects && other.why == said.why && other.file == said.file &&
             other.line == said.line;
    });
    auto& to = known == made.end() ? made.emplace_back(std::move(said)) : *known;
    if (!is_object || is_nameless) continue;
    if (to.objects.empty()) to.what = what;
    to.objects.push_back({what, std::string(names[one.owner]), std::string(names[one.file]),
                          one.line, std::string(names[one.holder]),
                          (one.flags & format::expectation_tensor) != 0});
  }
  return made;
}

std::variant<std::vector<expectation>, bad_line> parse_suppressions(std::string_view text,
                                                                    const std::string& file) {
  constexpr std::string_view kind = "growth:";
  std::vector<expectation> made;
  std::uint32_t number = 0;
  for (const auto& line : code::lines_of(text)) {
    ++number;
    const auto comment = line.find('#');
    const auto rule = text::trimmed(std::string_view(line).substr(0, comment));
    if (rule.empty()) continue;
    if (!rule.starts_with(kind)) {
      return bad_line{number, fmt::format("\"{}\" is no suppression: write growth: PATTERN  # why",
                                          text::printable(rule))};
    }
    const auto pattern = text::trimmed(rule.substr(kind.size()));
    if (pattern.empty()) {
      return bad_line{number, "growth: has no pattern: write growth: PATTERN  # why"};
    }
    const auto why =
        comment == line.npos ? std::string_view() : std::string_view(line).substr(comment + 1);
    made.push_back({said_by::file,
                    text::valid_utf8(pattern),
                    text::valid_utf8(text::trimmed(why)),
                    file,
                    number,
                    false,
                    {}});
  }
  return made;
}

bool covers(const expectation& said, const retainer& held_by) {
  // No name leads there, whatever its class is called.
  if ((held_by.flags & format::held_unreachable) != 0) return false;
  if (!said.of_objects) return covers_path(said.what, held_by);
  return std::ranges::any_of(said.objects,
                             [&](const expected_object& object) { return is_of(object, held_by); });
}

bool covers(const expectation& said, const std::vector<code::source_frame>& frames) {
  if (said.of_objects) return false;
  const auto* const telling = code::telling_frame(frames);
  const auto* const user = code::innermost_user(frames);
  return (telling != nullptr && covers_place(said.what, *telling)) ||
         (user != nullptr && covers_place(said.what, *user));
}

bool covers_subject(const expectation& said, std::string_view subject) {
  return !said.of_objects && text::matches(said.what, subject);
}

}  // namespace memtrace::verdicts
