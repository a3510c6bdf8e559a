// SPDX-License-Identifier: Apache-2.0
#include "interpose/door/api/names.h"

#include <cstring>
#include <functional>
#include <new>

namespace memtrace::names {
namespace {

constexpr unsigned bucket_count = 4096;
std::atomic<const name*> buckets[bucket_count];
std::atomic<std::uint32_t> count{0};
constinit const name surplus{nullptr, 0, "…"};

const name* find(const name* from, std::uint64_t hash, std::string_view text) noexcept {
  while (from != nullptr && (from->hash != hash || from->text != text)) from = from->next;
  return from;
}

name* make(std::uint64_t hash, std::string_view text) noexcept {
  void* const memory = ::operator new(sizeof(name) + text.size(), std::nothrow);
  if (memory == nullptr) return nullptr;
  char* const copy = static_cast<char*>(memory) + sizeof(name);
  std::memcpy(copy, text.data(), text.size());
  return new (memory) name{nullptr, hash, {copy, text.size()}};
}

}  // namespace

const name* intern(std::string_view text) noexcept {
  text = text.substr(0, max_bytes);
  const std::uint64_t hash = std::hash<std::string_view>{}(text);
  const name* first = buckets[hash % bucket_count].load(std::memory_order_acquire);
  if (const name* const known = find(first, hash, text); known != nullptr) return known;
  if (count.fetch_add(1, std::memory_order_relaxed) >= max_names) {
    count.store(max_names, std::memory_order_relaxed);
    return &surplus;
  }
  name* const made = make(hash, text);
  if (made == nullptr) return nullptr;
  // Two threads may add the same name at once: both stay, and have one text in the trace.
  made->next = first;
  while (!buckets[hash % bucket_count].compare_exchange_weak(
      made->next, made, std::memory_order_release, std::memory_order_relaxed)) {
  }
  return made;
}

std::uint32_t text_id(recorder& to, const name* which) noexcept {
  if (which == nullptr) return 0;
  const std::uint64_t generation = to.generation();
  const std::uint64_t last = which->id.load(std::memory_order_relaxed);
  if (last >> 32 == generation) [[likely]]
    return static_cast<std::uint32_t>(last);
  const std::uint32_t id = to.text_id(which->text);
  if (id != 0) which->id.store(generation << 32 | id, std::memory_order_relaxed);
  return id;
}

}  // namespace memtrace::names
