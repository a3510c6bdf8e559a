// SPDX-License-Identifier: Apache-2.0
//
// From the way on which an object was found to its place in the program, as text.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/sight/heap_scan/places.h"
#include "interpose/sight/heap_scan/search.h"
#include "interpose/sight/python/text.h"

namespace memtrace::heap_scan {

class path_names {
 public:
  // `running`: the frames of all threads; `constants`: the main module's names, or 0.
  path_names(const python_objects& python, search& found, const std::vector<read_frame>& running,
             address constants)
      : python_(python), search_(found), running_(running), constants_(constants) {}

  [[nodiscard]] place_number place_of(node which);
  // Of an object in another place than the first that was found to have it; no_place as above.
  [[nodiscard]] place_number place_of_child(node parent, address object);
  [[nodiscard]] place_table& places() noexcept { return places_; }
  // The detail of format::storage_role::held for the place, with the numbers that stand beside it.
  [[nodiscard]] std::string detail(place_number which);

 private:
  // The part of an object in a path, beside what it is itself.
  enum class role : std::uint8_t {
    itself,
    attributes,  // the dictionary of the object at this place
    parts,       // an nn.Module's _modules or _parameters
    buffers,     // an nn.Module's _buffers
    closure,     // a function's tuple of cells
    defaults,    // a function's tuple or dictionary of defaults
    entries,     // of an lru_cache
    trace,       // a traceback or frame of the exception that has this place
    root_trace,  // the same, of an exception that is the root
  };
  struct named {
    place_number place = no_place;
    place_number model = no_place;  // of the outermost nn.Module, inside one
    role as = role::itself;
    address type = 0;     // of the object whose attributes or parts these are
    unsigned nested = 0;  // containers around it that are written as one component
  };
  // One step of a path: the objects and kinds at its ends.
  struct step {
    address parent;
    kind parent_kind;
    address child;
    kind child_kind;
  };

  [[nodiscard]] named name_root(node which);
  [[nodiscard]] named name_child(const named& parent, const step& edge, node parent_node);
  [[nodiscard]] named from_attributes(const named& parent, const step& edge, std::string_view key);
  [[nodiscard]] named from_parts(const named& parent, const step& edge);
  [[nodiscard]] place_number part_of_module(const named& module, const std::string& component);
  [[nodiscard]] named from_function(const named& parent, const step& edge);
  [[nodiscard]] named from_closure(const named& parent, const step& edge, address function);
  [[nodiscard]] named from_frame(const named& parent, const step& edge);
  [[nodiscard]] named from_exception(const named& parent, const step& edge);
  [[nodiscard]] named from_container(const named& parent, const step& edge);
  [[nodiscard]] named from_lru_cache(const named& parent, const step& edge);
  [[nodiscard]] named from_plain(const named& parent, const step& edge);
  void note(place_number item, place_number container, const container_facts& facts);
  [[nodiscard]] named class_itself(const named& parent, address type);
  [[nodiscard]] named attribute(const named& parent, std::string_view name, address type);

  [[nodiscard]] std::string text_of(address text);
  // The key of a value, "" where it is none, or there are too many.
  [[nodiscard]] std::string key_of(address dict, address value, std::int64_t most);
  [[nodiscard]] std::string variable_of(const read_frame& frame, address value);
  [[nodiscard]] place_owner owner_in(address code, std::string_view relation);

  const python_objects& python_;
  search& search_;
  const std::vector<read_frame>& running_;
  const address constants_;
  place_table places_;
  std::unordered_map<place_number, std::string> details_;
  std::unordered_map<node, named> known_;
  python_stack::text_arena arena_;
};

}  // namespace memtrace::heap_scan
