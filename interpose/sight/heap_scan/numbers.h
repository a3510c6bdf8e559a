// SPDX-License-Identifier: Apache-2.0
//
// Whole numbers that stand beside a container: `self.capacity`, a local `budget`, a constant of the
// main program. One of them may be what the program compares the container's length with.
#pragma once

#include <cstdint>
#include <string>

#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

// Adds "capacity=40,budget=320" to a text, up to `most` numbers of each place, of those that are at
// least `least`: a smaller one bounds nothing that is longer. An object's attributes and
// arguments that are False are added too, "reset_real=False", up to a second `most`.
class number_notes {
 public:
  number_notes(const python_objects& python, std::string& to, std::int64_t least) noexcept
      : python_(python), to_(to), least_(least) {}

  // In a dictionary of names: an instance's, a module's.
  void of_dictionary(address dict);
  // In an object, wherever it keeps its attributes.
  void of_attributes(address object);
  // A function's variables, and what its parsed arguments (Namespace) say.
  void of_frame(const read_frame& frame);

 private:
  void begin() noexcept { left_ = switches_left_ = most; }
  void add(std::string_view name, std::string_view value);
  [[nodiscard]] bool note(address name, address value);

  static constexpr unsigned most = 12;
  const python_objects& python_;
  std::string& to_;
  const std::int64_t least_;
  unsigned left_ = 0;
  unsigned switches_left_ = 0;
};

}  // namespace memtrace::heap_scan
