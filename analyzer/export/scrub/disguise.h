// SPDX-License-Identifier: Apache-2.0
//
// Stand-ins for the paths and names of one or several traces that belong together: learned from
// all of them first, so that the same file, user or machine looks the same in all.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "analyzer/export/scrub/hidden_words.h"
#include "analyzer/export/scrub/places.h"

namespace memtrace::scrub {

// Values of environment variables and of allocator settings, of which only what a program could
// have been told in public stays: numbers, and the words that such settings are made of.
inline constexpr char removed[] = "(removed)";

// Word by word, since the settings are what the numbers of a report follow from.
[[nodiscard]] std::string scrubbed_settings(std::string_view text);

// As it is, or removed.
[[nodiscard]] std::string scrubbed_value(std::string_view text);

// Digits stay, anything else is removed.
[[nodiscard]] std::string scrubbed_number(std::string_view text);

// The uses of a text, which say how it is hidden. Bits: a text may have several.
namespace role {
inline constexpr unsigned file = 1;         // of a frame
inline constexpr unsigned held_detail = 2;  // of a storage that a heap scan found
inline constexpr unsigned known = 4;        // of PyTorch, CUDA or memtrace: stays
}  // namespace role

class disguise {
 public:
  void learn(std::string_view text, unsigned roles);
  void learn_info(std::string_view key, std::string_view value);
  void learn_user(std::string_view name) { words_.add_user(name); }
  void settle();

  [[nodiscard]] std::string text(std::string_view text, unsigned roles) const;
  [[nodiscard]] std::string info(std::string_view key, std::string_view value) const;

  [[nodiscard]] std::size_t directories() const { return places_.count(); }
  [[nodiscard]] std::size_t names() const { return words_.count(); }

 private:
  void learn_path(std::string_view path);
  [[nodiscard]] std::string path(std::string_view path) const;
  [[nodiscard]] std::string sentence(std::string_view text) const;

  places places_;
  hidden_words words_;
};

}  // namespace memtrace::scrub
