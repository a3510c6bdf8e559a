// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/places.h"

#include "memtrace/trace_format.h"

namespace memtrace::heap_scan {

namespace {

constexpr unsigned deepest = 12;

[[nodiscard]] bool is_item(std::string_view component) {
  return component.substr(0, 1) == "[";
}

void lengthen(std::optional<place_level>& known, const place_level& level) {
  if (!known || known->length < level.length) known = level;
}

[[nodiscard]] std::string text_of(const place_level& level) {
  std::string text = std::to_string(level.length);
  if (level.most != 0) text += '<' + std::to_string(level.most);
  if (level.keys != key_kind::none) text += static_cast<char>(level.keys);
  return text;
}

}  // namespace

place_number place_table::start(std::string_view name, const place_owner& owner,
                                place_number from) {
  std::string key = "start\x1f" + std::string(name) + field_end + owner.what + field_end +
                    owner.file + field_end + std::to_string(owner.line);
  if (from != no_place) {
    const place& outer = places_[from];
    key += field_end + std::to_string(outer.flags) + field_end + outer.container.type;
  }
  const auto next = static_cast<place_number>(places_.size());
  const auto [known, is_new] = known_.try_emplace(std::move(key), next);
  if (!is_new) return known->second;
  place made;
  made.text = made.last = name;
  made.owner = owner;
  if (from != no_place) {
    made.flags = places_[from].flags;
    made.container = places_[from].container;
    made.holder = places_[from].holder;
    made.before = from;
  }
  places_.push_back(std::move(made));
  return next;
}

// x.next.next is x.next, and x[…]['a'][…]['a'] is x[…]['a'].
place_number place_table::repeated(place_number from, std::string_view component) const {
  const place& last = places_[from];
  if (last.parent == no_place) return no_place;
  if (last.last == component) return from;
  const place& before = places_[last.parent];
  if (before.parent == no_place || before.last != component) return no_place;
  const place& earlier = places_[before.parent];
  return earlier.parent != no_place && earlier.last == last.last ? last.parent : no_place;
}

place_number place_table::add(place_number from, std::string_view component) {
  if (places_[from].depth >= deepest) {
    places_[from].repeats = true;
    return from;
  }
  if (const place_number same = repeated(from, component); same != no_place) {
    places_[same].repeats = places_[same].repeats || !is_item(component) || same != from;
    return same;
  }
  const auto next = static_cast<place_number>(places_.size());
  std::string key = std::to_string(from) + field_end + std::string(component);
  const auto [known, is_new] = known_.try_emplace(std::move(key), next);
  if (!is_new) return known->second;
  place made = places_[from];
  made.text += component;
  made.last = component;
  made.attribute_of.clear();
  made.class_of_last.clear();
  made.level.reset();
  made.inner_level.reset();
  made.repeats = false;
  made.parent = from;
  made.before = no_place;
  ++made.depth;
  places_.push_back(std::move(made));
  return next;
}

void place_table::note_container(place_number which, const place_container& container,
                                 bool is_bounded) {
  place& here = places_[which];
  if (is_bounded) here.flags |= format::held_bounded;
  if (!here.container.type.empty() && here.container.length > container.length) return;
  here.container = container;
  if (here.parent == no_place) return;
  const place& outer = places_[here.parent];
  // An item of an item belongs to the same object; a container with a name of its own to none.
  if (outer.parent == no_place || !outer.attribute_of.empty()) here.holder = outer.attribute_of;
}

void place_table::note_level(place_number which, place_number from, const place_level& level) {
  place& here = places_[which];
  const bool is_inner = here.depth <= places_[from].depth;
  lengthen(is_inner ? here.inner_level : here.level, level);
}

std::string place_table::levels_of(place_number which) const {
  std::string text;
  bool is_first = true;
  for (place_number at = which; at != no_place;) {
    const place& here = places_[at];
    if (is_item(here.last) || here.repeats) {
      std::string one;
      if (here.level && !here.repeats) one = text_of(*here.level);
      if (here.inner_level && !one.empty()) one += '/' + text_of(*here.inner_level);
      text = is_first ? one : one + ',' + text;
      is_first = false;
    }
    at = here.parent != no_place ? here.parent : here.before;
  }
  return text;
}

// Those of a path that led to the first name are not on this one.
std::string place_table::classes_of(place_number which) const {
  std::string text;
  for (place_number at = which; places_[at].parent != no_place; at = places_[at].parent) {
    const place& here = places_[at];
    if (is_item(here.last)) continue;
    text.insert(0, ',' + here.class_of_last);
  }
  // Without the first comma, and without what is not known at the end.
  text.erase(0, 1);
  text.erase(text.find_last_not_of(',') + 1);
  return text;
}

std::string place_table::detail(place_number which, std::string_view numbers) const {
  const place& here = places_[which];
  std::string text = here.container.type + field_end;
  if (!here.container.type.empty()) text += std::to_string(here.container.length);
  text += field_end + here.owner.what + field_end + here.owner.file + field_end;
  if (here.owner.line != 0) text += std::to_string(here.owner.line);
  text += field_end + (here.container.type.empty() ? here.attribute_of : here.holder);
  text.append(1, field_end).append(numbers);
  text.append(1, field_end).append(levels_of(which));
  return text.append(1, field_end).append(classes_of(which));
}

}  // namespace memtrace::heap_scan
