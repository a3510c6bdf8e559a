// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/take.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "interpose/sight/heap_scan/collector_lists.h"
#include "interpose/sight/heap_scan/path_names.h"
#include "interpose/sight/heap_scan/roots.h"
#include "interpose/sight/heap_scan/search.h"

namespace memtrace::heap_scan {

namespace {

// Temporaries and rounding: not worth a longer search.
std::uint64_t tolerance(std::uint64_t allocated) {
  constexpr std::uint64_t least = 64u << 10;
  return std::max(least, allocated / 1024);
}

void search_user_code(search& searched, const root_finder& roots, storage_reader& reader) {
  searched.from(roots.main_module());
  for (const root_group& frame : roots.frames(true)) searched.from(frame);
  searched.from(roots.exceptions());
  searched.from(roots.modules(true));
  searched.from(roots.contexts());
  searched.from_postponed();
  reader.walk_graphs(searched);
}

void search_suspended(search& searched, const root_finder& roots, storage_reader& reader) {
  searched.from(roots.suspended());
  searched.from_postponed();
  reader.walk_graphs(searched);
}

void search_packages(search& searched, const root_finder& roots, storage_reader& reader) {
  for (const root_group& frame : roots.frames(false)) searched.from(frame);
  searched.from(roots.modules(false));
  searched.from_postponed();
  reader.walk_graphs(searched);
}

// The objects that the collector knows and the search has not met.
mapped_array<address> find_nameless(search& searched, std::uint64_t most) {
  mapped_array<address> found(most);
  collector_lists(*searched.python().layout).for_each([&](address object) {
    if (searched.until().is_over()) return false;
    return searched.objects().find(object) != no_node || found.push(object);
  });
  return found;
}

// Objects first: what they hold is theirs.
void search_nameless(search& searched, storage_reader& reader, std::uint64_t most) {
  const mapped_array<address> nameless = find_nameless(searched, most);
  if (!searched.is_incomplete()) {
    for (const address object : searched.unreferred(nameless)) searched.from_statement(object);
    // What their graphs have kept is theirs: tensors that are objects of Python's, too.
    searched.from_postponed();
    reader.walk_graphs(searched);
  }
  const auto from = [&](auto is_it) {
    for (std::size_t i = 0; i < nameless.size() && !searched.is_incomplete(); ++i) {
      if (searched.until().is_over()) return;
      const address object = nameless[i];
      if (is_it(searched.kind_of(object), object)) searched.from_nobody(object);
    }
  };
  from([](kind what, address object) {
    return what == kind::plain && (flags_of(type_of(object)) & type_flag::heap_type) != 0;
  });
  from([](kind what, address) { return what != kind::tensor && what != kind::module; });
  from([](kind what, address) { return what == kind::tensor; });
  searched.from_postponed();
  reader.walk_graphs(searched);
}

// What is kept is in it, or in what is in it: the container before the first "[…]" of a path. No
// name leads further.
place_number first_item(const place_table& places, place_number which) {
  place_number first = no_place;
  for (place_number at = which; at != no_place; at = places[at].parent) {
    if (places[at].last == "[…]") first = at;
  }
  return first;
}

std::optional<named_part> part_of(const place& here) {
  constexpr std::string_view begin = "['", end = "']";
  const std::string_view last = here.last;
  if (here.repeats) return std::nullopt;
  if (last.starts_with('.')) {
    return named_part{named_part::kind::attribute, std::string(last.substr(1))};
  }
  if (!last.starts_with(begin) || !last.ends_with(end)) return std::nullopt;
  return named_part{named_part::kind::key,
                    std::string(last.substr(begin.size(), last.size() - 2 * begin.size()))};
}

std::optional<named_container> by_names(const place_table& places, place_number which) {
  named_container made;
  made.text = places[which].text;
  place_number at = which;
  for (; places[at].parent != no_place; at = places[at].parent) {
    auto part = part_of(places[at]);
    if (!part) return std::nullopt;
    made.parts.push_back(std::move(*part));
  }
  std::reverse(made.parts.begin(), made.parts.end());
  const place& first = places[at];
  const bool is_local = first.owner.what.starts_with("local of ");
  // A path that came here from another one begins at no frame and at no module.
  if (first.before != no_place || !first_place(first.owner.what)) return std::nullopt;
  if (is_local && first.code == 0) return std::nullopt;
  made.owner = first.owner.what;
  made.line = first.owner.line;
  made.code = is_local ? first.code : 0;
  made.variable = first.last;
  return made;
}

std::vector<found_container> containers_of(const place_table& places,
                                           const std::vector<held_storage>& storages,
                                           const std::vector<place_number>& numbers) {
  std::unordered_map<place_number, std::uint64_t> bytes;  // by item
  for (std::size_t i = 0; i < numbers.size() && numbers[i] != no_place; ++i) {
    const place_number item = first_item(places, numbers[i]);
    if (item != no_place && places[item].level) bytes[item] += storages[i].bytes;
  }
  std::vector<found_container> found;
  for (const auto& [item, held] : bytes) {
    auto which = by_names(places, places[item].parent);
    if (which) found.push_back({std::move(*which), places[item].level->length, held});
  }
  return found;
}

// "8,3,224,224"; of a vector or a number none, which says nothing that its bytes do not say.
std::string words_of(const tensor_shape& shape) {
  std::string text;
  for (std::size_t i = 0; shape.dimensions > 1 && i < shape.dimensions; ++i) {
    if (i > 0) text += ',';
    text += std::to_string(shape.sizes[i]);
  }
  return text;
}

named_storage name(const held_storage& held, path_names& names, place_number number,
                   bool with_shape) {
  const place_number other =
      held.other_parent == no_node ? no_place : names.place_of_child(held.other_parent, held.other);
  const place& where = names.places()[number];
  named_storage named{held.address,         held.bytes,       where.text,
                      names.detail(number), where.owner.file, held.flags | where.flags};
  if ((held.flags & format::held_gradient) != 0) named.name += ".grad";
  if ((held.flags & format::held_graph) != 0) named.name += ".grad_fn";
  const bool is_view = held.used_bytes * 2 < held.bytes;
  const bool has_other = other != no_place && names.places()[other].text != where.text;
  const std::string shape = with_shape ? words_of(held.shape) : std::string();
  if (is_view) named.flags |= format::held_view;
  std::string trainer(with_shape && held.optimizer_type != 0 ? name_of_type(held.optimizer_type)
                                                             : "");
  if (!trainer.empty() && held.has_momentum) trainer += ",momentum";
  const std::array further = {has_other ? names.places()[other].text : std::string(),
                              is_view ? std::to_string(held.used_bytes) : std::string(), shape,
                              std::move(trainer)};
  std::size_t last = further.size();
  while (last > 0 && further[last - 1].empty()) --last;
  for (std::size_t i = 0; i < last; ++i) named.detail.append(1, field_end).append(further[i]);
  return named;
}

}  // namespace

findings find_held(storage_reader& reader, const limits& at_most, const beyond& users) {
  findings found;
  const python_objects* const python = find_python_objects();
  if (python == nullptr) return found;
  const py modules = python->get_modules();
  if (modules == nullptr) return found;
  const user_code code(*python, address_of(modules));
  deadline until(at_most.nanoseconds / 8 * 6);
  const root_finder roots(*python, code, address_of(modules), until);
  search searched(*python, reader, at_most.objects, until);
  searched.exclude(address_of(modules));
  searched.exclude_running(roots.running());
  const auto missing = [&] {
    const std::uint64_t bytes = searched.block_bytes();
    return at_most.allocated > bytes ? at_most.allocated - bytes : 0;
  };
  const auto is_enough = [&] {
    return at_most.allocated != 0 && missing() <= users.never_found + tolerance(at_most.allocated);
  };
  search_user_code(searched, roots, reader);
  found.is_cut_off = searched.is_incomplete();
  found.went_beyond = !found.is_cut_off && !is_enough() && users.is_allowed;
  if (found.went_beyond) until.extend(at_most.nanoseconds / 8 * 6 * (users.times_as_long - 1));
  if (!is_enough() && users.is_allowed) search_suspended(searched, roots, reader);
  if (!is_enough() && users.is_allowed) search_packages(searched, roots, reader);
  if (!is_enough() && users.is_allowed) {
    search_nameless(searched, reader, at_most.objects);
  }
  // All or nothing: a parameter without the mark is in no optimizer that the user's code leads to.
  if (!found.is_cut_off) searched.mark_trained();
  searched.note_others();
  found.is_incomplete = searched.is_incomplete() || (!is_enough() && !users.is_allowed);
  const bool has_time_left = !until.was_over();
  until.extend(at_most.nanoseconds / 8);
  const root_group main = roots.main_module();
  path_names names(*python, searched, roots.running(), main.empty() ? 0 : main.front().object);
  // All places first: what is said of one depends on all that is there.
  std::vector<place_number> numbers;
  for (const held_storage& held : searched.storages()) {
    numbers.push_back(names.place_of(held.holder));
    if (numbers.back() == no_place) break;
  }
  for (std::size_t i = 0; i < numbers.size() && numbers[i] != no_place; ++i) {
    const held_storage& held = searched.storages()[i];
    found.storages.push_back(name(held, names, numbers[i], at_most.shapes));
    found.bytes += held.bytes;
  }
  found.containers = containers_of(names.places(), searched.storages(), numbers);
  // Where the search beyond the user's code has left no time, that is not what is too much.
  found.is_cut_off = found.is_cut_off || (until.was_over() && has_time_left);
  found.is_incomplete = found.is_incomplete || until.was_over();
  found.missing = missing();
  found.objects = searched.objects().size();
  return found;
}

}  // namespace memtrace::heap_scan
