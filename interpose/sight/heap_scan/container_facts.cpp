// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/container_facts.h"

namespace memtrace::heap_scan {

namespace {

// "deque(maxlen=50)": what it says of itself when it is bounded.
void note_bound(container_facts& facts, std::string_view argument, std::int64_t bound) {
  facts.is_bounded = bound >= 0;
  if (!facts.is_bounded) return;
  facts.most = static_cast<std::uint64_t>(bound);
  facts.type += "(" + std::string(argument) + "=" + std::to_string(bound) + ")";
}

std::uint64_t count_at(address object, std::size_t place) noexcept {
  const auto count = load<std::int64_t>(object, place);
  return count > 0 ? static_cast<std::uint64_t>(count) : 0;
}

// A whole number, or a few of them: (rows, columns).
bool is_number(const python_objects& python, address key) {
  if (has_flag(key, type_flag::integer)) return true;
  if (type_of(key) != python.tuple) return false;
  constexpr std::int64_t few = 4;
  const auto count = load<std::int64_t>(key, offset::item_count);
  if (count < 1 || count > few) return false;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto place = python.layout->tuple_items + static_cast<std::size_t>(i) * sizeof(address);
    if (!has_flag(load<address>(key, place), type_flag::integer)) return false;
  }
  return true;
}

// By the older ones of very many: the latest may be in a variable, too.
key_kind keys_of(const python_objects& python, address dict) {
  constexpr unsigned enough = 64;
  constexpr std::uint32_t by_dict_alone = 1;
  unsigned seen = 0, numbers = 0, known = 0;
  for_each_pair(python, dict, [&](address key, address) {
    if (is_number(python, key)) {
      ++numbers;
    } else if (type_of(key) != python.tuple &&  // a prompt's words, which are ever new
               load<std::uint32_t>(key, offset::reference_count) > by_dict_alone) {
      ++known;
    }
    return ++seen < enough;
  });
  if (seen == 0) return key_kind::none;
  if (2 * numbers > seen) return key_kind::numbers;
  return 2 * known > seen ? key_kind::known : key_kind::unknown;
}

}  // namespace

container_facts facts_of(const python_objects& python, address object, kind what) {
  container_facts facts;
  facts.type = name_of_type(type_of(object));
  switch (what) {
    case kind::set:
      facts.length = count_at(object, offset::set_count);
      break;
    case kind::deque:
      facts.length = count_at(object, offset::item_count);
      note_bound(facts, "maxlen", load<std::int64_t>(object, offset::deque_bound));
      break;
    case kind::lru_cache: {
      facts.type = "lru_cache";
      const auto cache = load<address>(object, offset::lru_cache);
      if (cache == 0 || type_of(cache) != python.dict) break;
      facts.length = count_at(cache, offset::item_count);
      note_bound(facts, "maxsize", load<std::int64_t>(object, offset::lru_bound));
      break;
    }
    case kind::dict:
      facts.length = count_at(object, offset::item_count);
      facts.keys = keys_of(python, object);
      break;
    default:
      facts.length = count_at(object, offset::item_count);
  }
  return facts;
}

}  // namespace memtrace::heap_scan
