// SPDX-License-Identifier: Apache-2.0
//
// A place in the program that keeps memory, as a person would write it. Places of equal text that
// begin at the same name are one.
//
//   root ─► "trainer" ─► "trainer.outputs" ─► "trainer.outputs[…]"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interpose/sight/heap_scan/container_facts.h"
#include "interpose/sight/heap_scan/found_objects.h"

namespace memtrace::heap_scan {

inline constexpr char field_end = '\x1f';  // between the fields of a `held` record's detail

using place_number = std::uint32_t;
inline constexpr place_number no_place = ~0u;

// The owner of the first name of a path.
struct place_owner {
  std::string what;  // "local of fit"
  std::string file;
  std::uint32_t line = 0;  // 0: unknown
};

struct place_container {
  std::string type;
  std::uint64_t length = 0;
};

// The longest of the containers that a component of a path, "[…]", stands for.
struct place_level {
  std::uint64_t length = 0;
  std::uint64_t most = 0;  // 0: any
  key_kind keys = key_kind::none;
};

struct place {
  std::string text;
  std::string last;  // its last component
  place_number parent = no_place;
  place_number before = no_place;  // where another path led to this name
  unsigned depth = 0;
  place_owner owner;
  place_container container;  // of those on the path the longest
  // About the last component, if that is an item: its containers, and what their items contain
  // where that is written as the same component. None: not known, or no item.
  std::optional<place_level> level;
  std::optional<place_level> inner_level;
  bool repeats = false;       // stands for more components than are written: x.next of x.next.next
  std::string holder;         // class of the object whose attribute that is
  std::string attribute_of;   // class of the object whose attribute the last component is
  std::string class_of_last;  // the same, of a part of an nn.Module, too
  std::uint32_t flags = 0;    // format::held_*
  // The holder of numbers beside it, if any: the object, or its dictionary, that has the attribute
  // named last; the code of the function that has the variable; 0: none.
  std::uint64_t attributes = 0;
  std::uint64_t code = 0;
};

class place_table {
 public:
  // A name that begins a path; flags and container of a path that led there go on.
  place_number start(std::string_view name, const place_owner& owner, place_number from = no_place);
  // One component further: "[…]", ".weight". Components that repeat are written once, and far from
  // the start none are written.
  place_number add(place_number from, std::string_view component);

  // The last component is an item of a container.
  void note_container(place_number which, const place_container& container, bool is_bounded);
  // `from`: the place of the container itself.
  void note_level(place_number which, place_number from, const place_level& level);

  [[nodiscard]] place& operator[](place_number which) { return places_[which]; }
  [[nodiscard]] const place& operator[](place_number which) const { return places_[which]; }
  // The nine fields of format::storage_role::held.
  [[nodiscard]] std::string detail(place_number which, std::string_view numbers) const;

 private:
  [[nodiscard]] std::string levels_of(place_number which) const;
  [[nodiscard]] std::string classes_of(place_number which) const;
  [[nodiscard]] place_number repeated(place_number from, std::string_view component) const;

  std::vector<place> places_;
  std::unordered_map<std::string, place_number> known_;
};

}  // namespace memtrace::heap_scan
