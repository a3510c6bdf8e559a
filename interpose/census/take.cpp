// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/take.h"

#include <algorithm>

#include "interpose/census/collector_lists.h"
#include "interpose/census/path_names.h"
#include "interpose/census/roots.h"
#include "interpose/census/search.h"

namespace memtrace::census {

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

void search_packages(search& searched, const root_finder& roots, storage_reader& reader) {
  for (const root_group& frame : roots.frames(false)) searched.from(frame);
  searched.from(roots.modules(false));
  searched.from_postponed();
  reader.walk_graphs(searched);
}

// What the collector knows and the search has not met.
mapped_array<address> find_nameless(const python_objects& python, search& searched,
                                    std::uint64_t most) {
  constexpr std::uint64_t objects_between_looks_at_the_clock = 4096;
  mapped_array<address> found(most);
  std::uint64_t count = 0;
  collector_lists(python).for_each([&](address object) {
    if (++count % objects_between_looks_at_the_clock == 0 && searched.is_out_of_time()) {
      return false;
    }
    return searched.objects().find(object) != no_node || found.push(object);
  });
  return found;
}

// Objects first: what they hold is theirs.
void search_nameless(const python_objects& python, search& searched, storage_reader& reader,
                     std::uint64_t most) {
  const mapped_array<address> nameless = find_nameless(python, searched, most);
  const auto from = [&](auto is_it) {
    for (std::size_t i = 0; i < nameless.size() && !searched.is_incomplete(); ++i) {
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

named_storage name(const held_storage& held, path_names& names) {
  const place_number number = names.place_of(held.holder);
  const place& where = names.places()[number];
  named_storage named{held.address, held.bytes, where.text, names.places().detail(number),
                      held.flags | where.flags};
  if ((held.flags & format::held_gradient) != 0) named.name += ".grad";
  if ((held.flags & format::held_graph) != 0) named.name += ".grad_fn";
  if (held.used_bytes * 2 < held.bytes) named.flags |= format::held_view;
  return named;
}

}  // namespace

findings find_held(storage_reader& reader, const limits& at_most, std::uint64_t never_found) {
  findings found;
  const python_objects* const python = find_python_objects();
  if (python == nullptr) return found;
  const py modules = python->get_modules();
  if (modules == nullptr) return found;
  const user_code users(*python, address_of(modules));
  const root_finder roots(*python, users, address_of(modules));
  search searched(*python, reader, at_most);
  searched.exclude(address_of(modules));
  searched.exclude_running(roots.running());
  const auto missing = [&] {
    const std::uint64_t bytes = searched.block_bytes();
    return at_most.allocated > bytes ? at_most.allocated - bytes : 0;
  };
  const auto is_enough = [&] {
    return at_most.allocated != 0 && missing() <= never_found + tolerance(at_most.allocated);
  };
  search_user_code(searched, roots, reader);
  if (!is_enough()) search_packages(searched, roots, reader);
  if (!is_enough()) search_nameless(*python, searched, reader, at_most.objects);
  path_names names(*python, searched);
  for (const held_storage& held : searched.storages()) {
    found.storages.push_back(name(held, names));
    found.bytes += held.bytes;
  }
  found.missing = missing();
  found.objects = searched.objects().size();
  found.is_incomplete = searched.is_incomplete();
  return found;
}

}  // namespace memtrace::census
