// SPDX-License-Identifier: Apache-2.0
//
// Which lines of a program's source an address of its machine code comes from, with the functions
// that the compiler put inside others:
//
//   app +0x11f4  ─►  memory.h:9 device_buffer::device_buffer   (put into)
//                    trainer.cpp:31 trainer::log_loss
//
// elfutils' libdw reads it from the file itself, or from one with debug information that is
// installed for it (/usr/lib/debug); nothing is asked of the network.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace memtrace::symbols {

struct source_place {
  std::string function;    // as readable_name() has it; empty: not known
  std::string file;        // empty: not known
  std::uint32_t line = 0;  // 0: not known
};

// "_ZN7trainer8log_lossEf" as "trainer::log_loss": with namespaces, classes and their arguments, but
// without parameters and what it returns. What is no such name, or would become longer than any that
// a person wrote, stays.
[[nodiscard]] std::string readable_name(std::string_view linkers_name);

class debug_symbols {
 public:
  debug_symbols();
  debug_symbols(const debug_symbols&) = delete;
  debug_symbols& operator=(const debug_symbols&) = delete;
  ~debug_symbols();

  // Innermost first, valid as long as this. `address` as the file's program headers have it.
  // `identity` is the file's build id in hexadecimal digits or, if it has none, "BYTES.MODIFIED_NS";
  // none where the file that is there now is another one, is no regular file or knows nothing of the
  // address.
  [[nodiscard]] const std::vector<source_place>& places_of(const std::string& path,
                                                           std::string_view identity,
                                                           std::uint64_t address);

 private:
  class module;
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace memtrace::symbols
