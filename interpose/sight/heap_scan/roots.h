// SPDX-License-Identifier: Apache-2.0
//
// Where a search begins: what a person knows by name.
//
// The main program's globals come first, then the frames of each thread, the outermost first, and
// each is searched to the end before the next one: so a thing that is reachable from a longer lived
// name is called by it, wherever in the program the heap scan happens to be taken.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "interpose/sight/heap_scan/deadline.h"
#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/python_types.h"

namespace memtrace::heap_scan {

// Which files are the user's own: those of neither the standard library nor an installed package.
class user_code {
 public:
  // `modules`: sys.modules, a dictionary.
  user_code(const python_objects& python, address modules);
  [[nodiscard]] bool is_users(std::string_view file) const noexcept;

 private:
  std::string standard_library_;  // its folder, with a slash; "" when unknown
};

struct root {
  enum class origin : std::uint8_t {
    local,
    globals,
    exception,
    context,
    suspended,
    statement,  // a container that a statement makes or passes on, or C++ has
    nobody
  };
  origin from{};
  address object = 0;
  address name = 0;   // a str: of the variable; of the module, before its names are the roots
  address owner = 0;  // code of the frame; a str: the module's name
  address file = 0;   // a str: of the module
};

// Objects that are searched together.
using root_group = std::vector<root>;

class root_finder {
 public:
  root_finder(const python_objects& python, const user_code& users, address modules,
              deadline& until);

  [[nodiscard]] root_group main_module() const;
  // All frames of all threads.
  [[nodiscard]] const std::vector<read_frame>& running() const noexcept { return running_; }
  // By frame: its locals.
  [[nodiscard]] std::vector<root_group> frames(bool of_users) const;
  // Exceptions that are being handled, and the last one that nobody caught.
  [[nodiscard]] root_group exceptions() const;
  // But for the main one.
  [[nodiscard]] root_group modules(bool of_users) const;
  [[nodiscard]] root_group contexts() const;
  // Generators and coroutines of the user's that have begun and wait. A `for` statement holds its
  // generator where no name leads to.
  [[nodiscard]] root_group suspended() const;

 private:
  [[nodiscard]] std::vector<address> threads() const;  // oldest first
  [[nodiscard]] std::vector<read_frame> find_running() const;
  [[nodiscard]] bool is_users(const read_frame& frame) const;
  [[nodiscard]] root root_of_module(address name, address module) const;

  const python_objects& python_;
  const user_code& users_;
  const address modules_;
  deadline& until_;
  const std::vector<read_frame> running_;
};

}  // namespace memtrace::heap_scan
