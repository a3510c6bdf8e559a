// SPDX-License-Identifier: Apache-2.0
#include "analyzer/judge/verdicts/held_path.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "analyzer/base/text/numbers.h"

namespace memtrace::verdicts {

namespace {

[[nodiscard]] path_level parse_one(std::string_view text) {
  path_level made;
  if (text.empty()) return made;
  if (std::isdigit(static_cast<unsigned char>(text.back())) == 0) {
    made.keys = text.back();
    text.remove_suffix(1);
  }
  if (const auto bound = text.find('<'); bound != text.npos) {
    made.most = text::number_in(text.substr(bound + 1)).value_or(0);
    text = text.substr(0, bound);
  }
  made.length = text::number_in(text).value_or(0);
  return made;
}

void take_longer_one(path_level& known, const path_level& other) {
  if (other.length > known.length) known = other;
}

// "tracker.removed" and "tracker.removed[…].crops" of "tracker.removed[…].crops[…]": what stands
// before each item.
[[nodiscard]] std::vector<std::string> containers_of(std::string_view path) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < path.size(); ++at) {
    if (path[at] != '[') continue;
    found.emplace_back(path.substr(0, at));
    const bool is_word = path.substr(at).starts_with("['");
    const auto end = path.find(is_word ? "']" : "]", at);
    if (end == path.npos) break;
    at = end + (is_word ? 1 : 0);
  }
  return found;
}

}  // namespace

std::vector<nested_level> parse_levels(std::string_view text) {
  std::vector<nested_level> made;
  while (!text.empty()) {
    const auto comma = std::min(text.find(','), text.size());
    const auto one = text.substr(0, comma);
    const auto slash = std::min(one.find('/'), one.size());
    made.push_back({parse_one(one.substr(0, slash)),
                    slash == one.size() ? path_level{} : parse_one(one.substr(slash + 1))});
    const bool ends_in_comma = comma + 1 == text.size();
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (ends_in_comma) made.emplace_back();
  }
  return made;
}

void take_longer(std::vector<nested_level>& known, const std::vector<nested_level>& others) {
  if (known.empty()) known = others;
  if (known.size() != others.size()) return;
  for (std::size_t i = 0; i < known.size(); ++i) {
    take_longer_one(known[i].outer, others[i].outer);
    take_longer_one(known[i].inner, others[i].inner);
  }
}

std::optional<growing_level> levels_seen::growing(std::string_view path) const {
  const auto containers = containers_of(path);
  if (first.size() != latest.size() || containers.size() != latest.size()) return std::nullopt;
  std::optional<growing_level> found;
  double times = 1;
  const auto take = [&](std::size_t i, const path_level& before, const path_level& now,
                        bool in_elements) {
    if (before.length == 0 || now.length <= before.length) return;
    const double longer = static_cast<double>(now.length) / static_cast<double>(before.length);
    // An element's own containers go with it: the outer one is asked for, unless it is elements
    // themselves that get longer.
    const bool of_same = found && in_elements && found->variable == containers[i];
    if (found && (!of_same || longer <= times)) return;
    times = longer;
    found = growing_level{containers[i], now.length,  now.most,
                          now.keys,      in_elements, latest[i].inner.length != 0};
  };
  for (std::size_t i = 0; i < latest.size(); ++i) {
    take(i, first[i].outer, latest[i].outer, false);
    take(i, first[i].inner, latest[i].inner, true);
  }
  return found;
}

std::optional<growing_level> levels_seen::only(std::string_view path, std::uint64_t blocks) const {
  const auto containers = containers_of(path);
  if (latest.empty() || containers.size() != latest.size()) return std::nullopt;
  const bool is_one = latest.size() == 1 && latest.front().inner.length == 0;
  std::optional<growing_level> found;
  unsigned as_long = 0;
  const auto take = [&](std::size_t i, const path_level& level, bool in_elements) {
    if (level.length == 0 || (!is_one && (level.length != blocks || blocks < 2))) return;
    ++as_long;
    found = growing_level{containers[i], level.length, level.most,
                          level.keys,    in_elements,  latest[i].inner.length != 0};
  };
  for (std::size_t i = 0; i < latest.size(); ++i) {
    take(i, latest[i].outer, false);
    take(i, latest[i].inner, true);
  }
  return as_long == 1 ? found : std::nullopt;
}

bool levels_seen::may_fill() const {
  const auto fills = [](const path_level& level) { return level.length < level.most; };
  return std::ranges::any_of(
      latest, [&](const nested_level& one) { return fills(one.outer) || fills(one.inner); });
}

bool levels_seen::are_as_long_as_before() const {
  if (first.empty() || first.size() != latest.size()) return false;
  for (std::size_t i = 0; i < latest.size(); ++i) {
    if (latest[i].outer.length == 0 || first[i].outer.length == 0) return false;
    if (latest[i].outer.length > first[i].outer.length) return false;
    if (latest[i].inner.length > first[i].inner.length) return false;
  }
  return true;
}

namespace {

constexpr char separator = '\x1f';

}  // namespace

std::string container_at(std::string_view path) {
  constexpr std::string_view element = "[…]";
  while (path.ends_with(element)) path.remove_suffix(element.size());
  return std::string(path);
}

std::string_view field_of(std::string_view detail, held_field which) {
  for (std::size_t before = static_cast<std::size_t>(which); before > 0; --before) {
    const auto end = detail.find(separator);
    if (end == detail.npos) return {};
    detail.remove_prefix(end + 1);
  }
  return detail.substr(0, detail.find(separator));
}

held_path parse_held(std::string_view name, std::string_view detail) {
  std::array<std::string_view, 10> fields;
  for (auto& field : fields) {
    const auto end = std::min(detail.find(separator), detail.size());
    field = detail.substr(0, end);
    detail.remove_prefix(std::min(end + 1, detail.size()));
  }
  held_path made;
  made.path = std::string(name);
  made.container = std::string(fields[0]);
  made.length = text::number_in(fields[1]).value_or(0);
  made.owner = std::string(fields[2]);
  made.file = std::string(fields[3]);
  made.line = text::number_in<std::uint32_t>(fields[4]).value_or(0);
  made.holder = std::string(fields[5]);
  made.numbers = std::string(fields[6]);
  made.levels = parse_levels(fields[7]);
  // Traces of older versions have a number there, of a view.
  if (!text::number_in(fields[9])) made.also = std::string(fields[9]);
  for (auto rest = fields[8]; !rest.empty();) {
    const auto end = std::min(rest.find(','), rest.size());
    made.classes.emplace_back(rest.substr(0, end));
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return made;
}

std::string held_path::identity() const {
  std::string key;
  for (const auto* const part : {&path, &owner, &file}) {
    key += *part;
    key += separator;
  }
  // With containers in one another the longest is recorded: another one after some steps.
  const bool are_several =
      levels.size() > 1 || (!levels.empty() && levels.front().inner.length != 0);
  if (!are_several) key += container + separator + holder + separator;
  return key + std::to_string(line);
}

std::uint64_t limit_of(std::string_view container) {
  const auto equals = container.find('=');
  const auto close = container.find(')', std::min(equals, container.size()));
  if (equals == container.npos || close == container.npos) return 0;
  return text::number_in(container.substr(equals + 1, close - equals - 1)).value_or(0);
}

path_growth growth_of(std::span<const path_point> points) {
  if (points.empty()) return {};
  std::size_t top = 0;
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].bytes >= points[top].bytes) top = i;
  }
  std::size_t start = top;
  path_growth found;
  for (std::size_t i = top; i-- > 0;) {
    const auto risen = points[top].bytes - points[start].bytes;
    if (points[i].bytes > points[start].bytes + risen / 10) break;
    if (points[i].bytes < points[i + 1].bytes) ++found.rises;
    if (points[i].bytes < points[start].bytes) start = i;
  }
  const double steps = points[top].step - points[start].step;
  const auto risen = points[top].bytes - points[start].bytes;
  if (steps > 0) found.bytes_per_step = static_cast<double>(risen) / steps;
  found.to_the_end = top + 1 == points.size() && risen != 0;
  return found;
}

}  // namespace memtrace::verdicts
