// SPDX-License-Identifier: Apache-2.0
//
// The numbers that texts, frames, stacks and objects have in one trace file. Each is defined by a
// record the first time it is met; ids count from 1 in the order of those records.
//
// Not synchronised: the caller holds the recorder's lock. The functions may throw std::bad_alloc.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace memtrace {

// An id, and whether it was given just now: then the caller writes the record that defines it.
struct dictionary_id {
  std::uint32_t id = 0;
  bool is_new = false;
};

class dictionary {
 public:
  [[nodiscard]] dictionary_id text(std::string_view text);
  [[nodiscard]] dictionary_id frame(std::uint32_t file, std::uint32_t function, std::uint32_t line);
  [[nodiscard]] dictionary_id stack(std::uint32_t parent, std::uint32_t frame);
  [[nodiscard]] dictionary_id object(std::uint64_t address);

 private:
  struct text_hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const noexcept {
      return std::hash<std::string_view>{}(text);
    }
  };
  struct key {
    std::uint32_t a, b, c;
    friend bool operator==(const key&, const key&) = default;
  };
  struct key_hash {
    std::size_t operator()(const key& k) const noexcept {
      constexpr std::uint64_t odd = 0x9e3779b97f4a7c15u;
      std::uint64_t mixed = (k.a * odd) ^ (k.b + odd);
      mixed = (mixed ^ mixed >> 29) * odd ^ k.c;
      return (mixed ^ mixed >> 32) * odd;
    }
  };
  using key_map = std::unordered_map<key, std::uint32_t, key_hash>;

  [[nodiscard]] static dictionary_id find_or_add(key_map& map, const key& k);

  std::unordered_map<std::string, std::uint32_t, text_hash, std::equal_to<>> texts_;
  key_map frames_;
  key_map stacks_;
  std::unordered_map<std::uint64_t, std::uint32_t> objects_;
};

}  // namespace memtrace
