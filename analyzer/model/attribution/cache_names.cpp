// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/attribution/cache_names.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace memtrace::attribution {

namespace {

// What words of a name say.
constexpr std::uint32_t both = 1;   // keys and values
constexpr std::uint32_t one = 2;    // keys, or values
constexpr std::uint32_t kept = 4;   // from before
constexpr std::uint32_t pages = 8;  //
constexpr std::uint32_t pool = 16;

struct known_word {
  std::string_view text;
  std::uint32_t says;
};
constexpr std::array known_words = {
    known_word{"kv", both},
    known_word{"kvs", both},
    known_word{"k", one},
    known_word{"v", one},
    known_word{"key", one},
    known_word{"keys", one},
    known_word{"value", one},
    known_word{"values", one},
    known_word{"cache", kept | pool},
    known_word{"caches", kept | pool},
    known_word{"cached", kept},
    known_word{"past", kept},
    known_word{"pool", kept | pool},
    known_word{"pools", kept | pool},
    known_word{"page", pages},
    known_word{"pages", pages},
    known_word{"paged", pages},
};

[[nodiscard]] std::uint32_t meaning_of(std::string_view word) {
  const auto* const found = std::ranges::find(known_words, word, &known_word::text);
  return found == known_words.end() ? 0 : found->says;
}

[[nodiscard]] bool is_letter(char sign) {
  return (sign >= 'a' && sign <= 'z') || (sign >= 'A' && sign <= 'Z');
}

}  // namespace

bool names_keys_and_values(std::string_view path) {
  constexpr std::size_t longest = 4096;  // a path that is longer was not written by a person
  path = path.substr(0, longest);
  std::uint32_t name = 0;   // what the name says so far that is being read
  std::uint32_t whole = 0;  // the path
  std::size_t start = 0;
  for (std::size_t at = 0; at <= path.size(); ++at) {
    const char sign = at < path.size() ? path[at] : '.';
    if (is_letter(sign)) continue;
    name |= meaning_of(path.substr(start, at - start));
    start = at + 1;
    if (sign == '_') continue;
    if ((name & both) != 0 || ((name & one) != 0 && (name & kept) != 0)) return true;
    whole |= name;
    name = 0;
  }
  return (whole & pages) != 0 && (whole & pool) != 0;
}

}  // namespace memtrace::attribution
