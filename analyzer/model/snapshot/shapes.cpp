// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/shapes.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <string>

namespace memtrace::snapshot {

namespace {

constexpr std::size_t most_numbers = 4096;

[[nodiscard]] constexpr std::size_t at(key which) {
  return static_cast<std::size_t>(which);
}

[[nodiscard]] std::uint64_t integer(const value* of) {
  const bool is_one =
      of != nullptr && (of->kind == value_kind::integer || of->kind == value_kind::boolean);
  return is_one ? of->bits : 0;
}

[[nodiscard]] std::uint32_t text(const value* of) {
  return of != nullptr && of->kind == value_kind::text ? static_cast<std::uint32_t>(of->bits) : 0;
}

// Where Python knows no line, PyTorch has its -1 as an unsigned number.
[[nodiscard]] std::uint32_t line(const value* of) {
  const auto number = integer(of);
  return number > 0x7fffffff ? 0 : static_cast<std::uint32_t>(number);
}

[[nodiscard]] format::kind kind_of(std::uint32_t action) {
  switch (static_cast<key>(action)) {
    case key::alloc:
      return format::kind::alloc;
    case key::free_requested:
      return format::kind::free_requested;
    case key::free_completed:
      return format::kind::free_completed;
    case key::segment_alloc:
      return format::kind::segment_alloc;
    case key::segment_free:
      return format::kind::segment_free;
    case key::segment_map:
      return format::kind::segment_map;
    case key::segment_unmap:
      return format::kind::segment_unmap;
    case key::oom:
      return format::kind::oom;
    case key::snapshot:
      return format::kind::snapshot;
    default:
      return {};
  }
}

[[nodiscard]] double real(const value* of) {
  return of != nullptr && of->kind == value_kind::real ? std::bit_cast<double>(of->bits) : 0.0;
}

}  // namespace

const object* shapes::object_of(const value* of) const {
  if (of == nullptr || of->kind != value_kind::object || of->bits >= objects_.size())
    return nullptr;
  return &objects_[of->bits];
}

std::uint32_t shapes::stack_of(const value* of) const {
  const auto* const list = object_of(of);
  return list != nullptr && list->what == shape::frames ? static_cast<std::uint32_t>(list->first)
                                                        : 0;
}

shapes::outcome shapes::dict(std::span<const value> items, object& itself, value& made) {
  fields of{};
  bool known = false;
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    const auto name = text(&items[i]);
    if (name == 0 || name >= of.size()) continue;
    of[name] = &items[i + 1];
    known = true;
  }
  const auto has = [&](key which) { return of[at(which)] != nullptr; };
  if (known && has(key::action)) return event(of, made);
  if (known && has(key::filename) && has(key::name)) {
    itself.what = shape::frame;
    itself.first = to_.known.frame(text(of[at(key::filename)]), text(of[at(key::name)]),
                                   line(of[at(key::line)]));
  } else if (known && has(key::blocks)) {
    segment(of, made);
  } else if (known && has(key::state)) {
    block(of, made);
  } else if (known && has(key::stage)) {
    mark(of, made);
  } else if (known && (has(key::segments) || has(key::device_traces))) {
    for (const auto which : {key::segments, key::device_traces}) {
      if (const auto* const list = object_of(of[at(which)]); list != nullptr) take(*list);
    }
    itself.what = shape::root;
  } else if (known && (has(key::expandable_segments) || has(key::max_split_size) ||
                       has(key::PYTORCH_CUDA_ALLOC_CONF))) {
    settings(of);
    itself.what = shape::settings;
  } else if (!numbers(items, itself)) {
    return outcome::too_many;
  }
  return outcome::fine;
}

shapes::outcome shapes::event(const fields& of, value& made) {
  event_row row;
  row.kind = kind_of(text(of[at(key::action)]));
  if (row.kind == format::kind{}) {
    ++to_.unknown_events;
    made = {};
    return outcome::fine;
  }
  const bool oom = row.kind == format::kind::oom;
  row.address = integer(of[at(oom ? key::device_free : key::addr)]);
  row.size = integer(of[at(key::size)]);
  row.stream = integer(of[at(key::stream)]);
  row.time_us = integer(of[at(key::time_us)]);
  to_.has_times = to_.has_times || row.time_us != 0;
  row.stack = stack_of(of[at(key::frames)]);
  row.metadata = text(of[at(key::user_metadata)]);
  row.category = text(of[at(key::category)]);
  if (const auto* const pool = of[at(key::pool_id)];
      pool != nullptr && pool->kind == value_kind::pair) {
    row.has_pool = true;
    std::tie(row.pool_first, row.pool_second) = pairs_[pool->bits];
  }
  made = {value_kind::event, to_.events.size()};
  return to_.events.add(row) ? outcome::fine : outcome::not_written;
}

void shapes::block(const fields& of, value& made) {
  snapshot::block one;
  one.address = integer(of[at(key::address)]);
  one.bytes = integer(of[at(key::size)]);
  one.requested = integer(of[at(key::requested_size)]);
  to_.has_requested = to_.has_requested || of[at(key::requested_size)] != nullptr;
  one.stack = stack_of(of[at(key::frames)]);
  const auto state = static_cast<key>(text(of[at(key::state)]));
  one.state = state == key::inactive           ? block_state::inactive
              : state == key::active_allocated ? block_state::allocated
                                               : block_state::pending;
  made = {value_kind::block, to_.blocks.size()};
  to_.blocks.push_back(one);
}

void shapes::segment(const fields& of, value& made) {
  snapshot::segment one;
  one.address = integer(of[at(key::address)]);
  one.bytes = integer(of[at(key::total_size)]);
  one.stream = integer(of[at(key::stream)]);
  one.device = static_cast<std::uint32_t>(integer(of[at(key::device)]));
  one.expandable = integer(of[at(key::is_expandable)]) != 0;
  one.stack = stack_of(of[at(key::frames)]);
  if (const auto* const pool = of[at(key::segment_pool_id)];
      pool != nullptr && pool->kind == value_kind::pair) {
    std::tie(one.pool_first, one.pool_second) = pairs_[pool->bits];
  }
  if (const auto* const list = object_of(of[at(key::blocks)]);
      list != nullptr && list->what == shape::blocks) {
    one.first_block = static_cast<std::uint32_t>(list->first);
    one.blocks = list->count;
  }
  // The oldest versions give no addresses of blocks, which stand side by side.
  auto next = one.address;
  for (std::uint32_t i = 0; i < one.blocks; ++i) {
    auto& inside = to_.blocks[one.first_block + i];
    if (inside.address == 0) inside.address = next;
    next = inside.address + inside.bytes;
  }
  made = {value_kind::segment, to_.segments.size()};
  to_.segments.push_back(one);
}

void shapes::mark(const fields& of, value& made) {
  snapshot::mark one;
  one.time_us = integer(of[at(key::time_us)]);
  one.device = static_cast<std::uint32_t>(integer(of[at(key::device)]));
  one.name = text(of[at(key::name)]);
  one.begins = static_cast<key>(text(of[at(key::stage)])) == key::START;
  made = {value_kind::mark, to_.marks.size()};
  to_.marks.push_back(one);
}

// Their text, where the snapshot has it; else what it says of them one by one.
void shapes::settings(const fields& of) {
  to_.settings = to_.known.text_of(text(of[at(key::PYTORCH_CUDA_ALLOC_CONF)]));
  if (!to_.settings.empty()) return;
  std::vector<std::string> parts;
  if (integer(of[at(key::expandable_segments)]) != 0) {
    parts.emplace_back("expandable_segments:True");
  }
  const auto split = static_cast<std::int64_t>(integer(of[at(key::max_split_size)]));
  constexpr std::int64_t mebibyte = 1 << 20;
  if (split >= mebibyte) parts.push_back(fmt::format("max_split_size_mb:{}", split / mebibyte));
  if (const auto part = real(of[at(key::garbage_collection_threshold)]); part > 0 && part < 1) {
    parts.push_back(fmt::format("garbage_collection_threshold:{}", part));
  }
  if (const auto* const list = object_of(of[at(key::roundup_power2_divisions)]);
      list != nullptr && list->what == shape::numbers) {
    std::string divisions;
    for (std::uint32_t i = 0; i < list->count; ++i) {
      const auto& [name, number] = numbers_[list->first + i];
      if (number == 0) continue;
      divisions +=
          fmt::format("{}{}:{}", divisions.empty() ? "" : ",", to_.known.text_of(name), number);
    }
    if (!divisions.empty()) parts.push_back("roundup_power2_divisions:[" + divisions + "]");
  }
  for (const auto& part : parts) to_.settings += (to_.settings.empty() ? "" : ",") + part;
}

bool shapes::numbers(std::span<const value> items, object& itself) {
  const bool all = std::ranges::all_of(items, [](const value& one) {
    return one.kind == value_kind::text || one.kind == value_kind::integer;
  });
  if (!all || itself.count != 0) return true;
  if (numbers_.size() + items.size() > most_numbers) return false;
  itself.what = shape::numbers;
  itself.first = numbers_.size();
  for (std::size_t i = 0; i + 1 < items.size(); i += 2) {
    numbers_.emplace_back(text(&items[i]), integer(&items[i + 1]));
    ++itself.count;
  }
  return true;
}

shapes::outcome shapes::extend(object& list, shape as, std::uint64_t number) const {
  if (list.what == shape::list) {
    list.what = as;
    list.first = number;
    list.count = 0;
  }
  if (list.what != as || list.first + list.count != number) return outcome::scattered;
  ++list.count;
  return outcome::fine;
}

shapes::outcome shapes::add(const value& item, object& to) {
  switch (item.kind) {
    case value_kind::event:
      return extend(to, shape::events, item.bits);
    case value_kind::block:
      return extend(to, shape::blocks, item.bits);
    case value_kind::segment:
      return extend(to, shape::segments, item.bits);
    case value_kind::object:
      break;
    default:
      return outcome::fine;
  }
  const auto& inner = *object_of(&item);
  if (inner.what == shape::frame) {
    frames_.push_back(static_cast<std::uint32_t>(inner.first));
    return outcome::fine;
  }
  if (inner.what != shape::events && inner.what != shape::list) return outcome::fine;
  const bool events = inner.what == shape::events;
  traces_.push_back({events ? inner.first : 0, events ? inner.count : 0});
  return extend(to, shape::traces, traces_.size() - 1);
}

shapes::outcome shapes::list(std::span<const value> items, object& itself,
                             std::span<const object> objects) {
  objects_ = objects;
  frames_.clear();
  for (const auto& item : items) {
    if (const auto what = add(item, itself); what != outcome::fine) return what;
  }
  // A stack that comes in more than one part is cut behind the first, of a thousand frames.
  if (!frames_.empty() && itself.what == shape::list) {
    itself.what = shape::frames;
    itself.first = to_.known.stack(frames_);
  }
  return outcome::fine;
}

value shapes::pair(const value& first, const value& second) {
  if (first.kind != value_kind::integer || second.kind != value_kind::integer) return {};
  const std::pair<std::uint64_t, std::uint64_t> both{first.bits, second.bits};
  const auto [known, is_new] =
      known_pairs_.try_emplace(both, static_cast<std::uint32_t>(pairs_.size()));
  if (is_new) pairs_.push_back(both);
  return {value_kind::pair, known->second};
}

void shapes::take(const object& list) {
  if (list.what == shape::traces) {
    const auto begin = traces_.begin() + static_cast<std::ptrdiff_t>(list.first);
    to_.traces.assign(begin, begin + list.count);
  }
}

bool shapes::finish(const value& whole, std::span<const object> objects) {
  objects_ = objects;
  const auto* const what = object_of(&whole);
  return what != nullptr && (what->what == shape::root || what->what == shape::segments);
}

}  // namespace memtrace::snapshot
