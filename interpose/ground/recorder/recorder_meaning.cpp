// SPDX-License-Identifier: Apache-2.0
//
// The records that say what memory means: names, roles, phases and steps.
#include <bit>
#include <new>

#include "interpose/ground/recorder/recorder_scope.h"
#include "interpose/ground/recorder/told_storages.h"

namespace memtrace {

using format::kind;

std::uint32_t recorder::text_id(std::string_view text) noexcept {
  scope section(*this);
  if (!section.begin(small_record_bytes)) return 0;
  try {
    return define_text(text);
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

std::uint32_t recorder::object_id(std::uint64_t address) noexcept {
  scope section(*this);
  if (address == 0 || !section.begin(small_record_bytes)) return 0;
  try {
    const dictionary_id found = dictionary_.object(address);
    if (found.is_new) {
      section.begin_payload(kind::object);
      section.value(address);
      section.end_payload();
      section.commit();
    }
    return found.id;
  } catch (const std::bad_alloc&) {
    return 0;
  }
}

void recorder::module(const module_name& module) noexcept {
  scope section(*this);
  if (!section.begin(small_record_bytes)) return;
  section.begin_payload(kind::object);
  section.value(0);
  section.value(module.object);
  section.value(module.root);
  section.value(module.path);
  section.value(module.type);
  section.value(module.flags);
  section.end_payload();
  section.commit();
}

bool recorder::storages(std::span<const storage_event> found) noexcept {
  scope section(*this);
  for (const storage_event& storage : found) {
    if (!section.begin(small_record_bytes)) return false;
    section.begin_payload(kind::storage);
    section.value(static_cast<std::uint32_t>(storage.role));
    section.near_address(storage.address);
    section.value(storage.bytes);
    section.value(storage.name);
    section.value(storage.detail);
    section.value(storage.object);
    section.value(storage.flags);
    section.end_payload();
    section.commit();
  }
  return true;
}

void recorder::storage_once(const storage_event& found) noexcept {
  if (the_told_storages.contains(found.address, found.role)) return;
  if (storages({&found, 1})) the_told_storages.add(found.address, found.role);
}

void recorder::generated(const generated_line& told) noexcept {
  scope section(*this);
  if (!section.begin(small_record_bytes)) return;
  section.begin_payload(kind::storage);
  section.value(static_cast<std::uint32_t>(format::storage_role::generated));
  section.near_address(0);
  section.value(0);
  section.value(told.operators);
  section.value(0);
  section.value(told.module);
  section.value(told.flags);
  section.value(told.file);
  section.value(told.line);
  section.value(told.source);
  section.value(told.owner);
  section.end_payload();
  section.commit();
}

void recorder::saved(const saved_event& event) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin(small_record_bytes)) return;
  section.context(context_.device, thread);
  section.begin_payload(kind::saved);
  section.near_address(event.address);
  section.value(event.bytes);
  section.value(event.flags);
  section.value(event.scalar_type);
  section.value(event.dimensions);
  section.value(event.rows);
  section.value(event.columns);
  section.end_payload();
  section.commit();
}

void recorder::phase(const phase_event& event) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) return;
  section.context(context_.device, thread);
  section.begin_payload(kind::phase);
  section.value(static_cast<std::uint32_t>(event.action));
  section.value(static_cast<std::uint32_t>(event.source));
  section.value(event.object);
  section.value(event.name);
  section.end_payload();
  section.time();
  section.commit();
}

void recorder::step(const step_event& event) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) return;
  section.context(context_.device, thread);
  section.begin_payload(kind::step);
  section.value(static_cast<std::uint32_t>(event.source));
  section.value(event.object);
  section.value(event.name);
  section.end_payload();
  section.time();
  section.commit();
}

void recorder::counter(std::string_view name, double value) noexcept {
  const std::uint32_t text = text_id(name);
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) return;
  section.context(context_.device, thread);
  section.begin_payload(kind::counter);
  section.value(text);
  section.value(std::bit_cast<std::uint64_t>(value));
  section.end_payload();
  section.time();
  section.commit();
}

bool recorder::samples(std::span<const counter_value> found) noexcept {
  const std::atomic<std::uint64_t> always{0};
  return samples(found, always, 0);
}

bool recorder::samples(std::span<const counter_value> found,
                       const std::atomic<std::uint64_t>& count, std::uint64_t expected) noexcept {
  constexpr std::size_t counter_bytes = 32;  // tag, length, two numbers
  // Room for all and for what begin() asks for: it opens no other slot.
  const auto record_bytes =
      static_cast<std::uint32_t>(small_record_bytes + found.size() * counter_bytes);
  const auto time_bytes =
      static_cast<std::uint32_t>((found.size() + 1) * encoding::max_varint_bytes);
  scope section(*this);
  if (count.load(std::memory_order_acquire) != expected) return false;
  if (!slots_.current().has_room(record_bytes, time_bytes)) return false;
  bool is_first = true;
  for (const counter_value& counter : found) {
    if (!section.begin(small_record_bytes)) return false;
    section.context(context_.device, 0);
    section.begin_payload(kind::counter);
    section.value(counter.name);
    section.value(std::bit_cast<std::uint64_t>(counter.value));
    section.end_payload();
    is_first ? section.time() : section.same_time();
    section.commit();
    is_first = false;
  }
  return true;
}

void recorder::census(const heap_scan_event& event) noexcept {
  scope section(*this);
  const std::uint32_t thread = section.thread();
  if (!section.begin_event(small_record_bytes)) return;
  section.context(context_.device, thread);
  section.begin_payload(kind::census);
  section.value(static_cast<std::uint32_t>(event.action));
  section.value(static_cast<std::uint32_t>(event.reason));
  section.value(event.flags);
  section.value(event.bytes);
  section.value(event.nanoseconds);
  section.end_payload();
  section.time();
  section.commit();
}

}  // namespace memtrace
