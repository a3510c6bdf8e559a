// SPDX-License-Identifier: Apache-2.0
#include "interpose/census/take.h"

#include "interpose/census/path_names.h"
#include "interpose/census/roots.h"
#include "interpose/census/search.h"

namespace memtrace::census {

namespace {

void search_everything(search& searched, const root_finder& roots, storage_reader& reader) {
  searched.from(roots.main_module());
  for (const root_group& frame : roots.frames(true)) searched.from(frame);
  searched.from(roots.exceptions());
  searched.from(roots.modules(true));
  searched.from(roots.contexts());
  searched.from_postponed();
  reader.walk_graphs(searched);
  for (const root_group& frame : roots.frames(false)) searched.from(frame);
  searched.from(roots.modules(false));
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

findings find_held(storage_reader& reader, const limits& at_most) {
  findings found;
  const python_objects* const python = find_python_objects();
  if (python == nullptr) return found;
  const py modules = python->get_modules();
  if (modules == nullptr) return found;
  const user_code users(*python, address_of(modules));
  const root_finder roots(*python, users, address_of(modules));
  search searched(*python, reader, at_most);
  searched.exclude(address_of(modules));
  search_everything(searched, roots, reader);
  path_names names(*python, searched);
  for (const held_storage& held : searched.storages()) {
    found.storages.push_back(name(held, names));
    found.bytes += held.bytes;
  }
  found.objects = searched.objects().size();
  found.is_incomplete = searched.is_incomplete();
  return found;
}

}  // namespace memtrace::census
