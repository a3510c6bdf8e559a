// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/recorder/dictionary.h"

namespace memtrace {

dictionary_id dictionary::text(std::string_view text) {
  if (const auto found = texts_.find(text); found != texts_.end()) return {found->second, false};
  const auto id = static_cast<std::uint32_t>(texts_.size() + 1);
  texts_.emplace(std::string(text), id);
  return {id, true};
}

dictionary_id dictionary::find_or_add(key_map& map, const key& k) {
  const auto [place, added] = map.try_emplace(k, static_cast<std::uint32_t>(map.size() + 1));
  return {place->second, added};
}

dictionary_id dictionary::frame(std::uint32_t file, std::uint32_t function, std::uint32_t line) {
  return find_or_add(frames_, {file, function, line});
}

dictionary_id dictionary::stack(std::uint32_t parent, std::uint32_t frame) {
  return find_or_add(stacks_, {parent, frame, 0});
}

dictionary_id dictionary::object(std::uint64_t address) {
  const auto [place, added] =
      objects_.try_emplace(address, static_cast<std::uint32_t>(objects_.size() + 1));
  return {place->second, added};
}

}  // namespace memtrace
