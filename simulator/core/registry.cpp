// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/registry.h"

#include <iterator>
#include <map>
#include <mutex>
#include <shared_mutex>

#include "simulator/core/address_space.h"

namespace memtrace::simulator {
namespace {

struct table_type {
  std::shared_mutex mutex;
  std::map<address_t, memory_range> ranges;
  std::uint64_t last_id = 0;
};

table_type& table() {
  static table_type* const instance = new table_type;
  return *instance;
}

}  // namespace

namespace registry {

std::uint64_t add(memory_range range) {
  table_type& all = table();
  const std::unique_lock lock(all.mutex);
  range.id = ++all.last_id;
  all.ranges[range.base] = range;
  return range.id;
}

bool overlaps(address_t base, std::size_t size) {
  table_type& all = table();
  const std::shared_lock lock(all.mutex);
  const auto next = all.ranges.lower_bound(base);
  if (next != all.ranges.end() && next->first < base + size) return true;
  if (next == all.ranges.begin()) return false;
  const memory_range& before = std::prev(next)->second;
  return before.base + before.size > base;
}

memory_range remove(address_t base, bool (*wanted)(const memory_range&)) {
  table_type& all = table();
  const std::unique_lock lock(all.mutex);
  const auto found = all.ranges.find(base);
  if (found == all.ranges.end() || !wanted(found->second)) return {};
  const memory_range removed = found->second;
  all.ranges.erase(found);
  return removed;
}

std::vector<memory_range> of_context(CUcontext context) {
  table_type& all = table();
  const std::shared_lock lock(all.mutex);
  std::vector<memory_range> found;
  for (const auto& [base, range] : all.ranges) {
    if (range.context == context) found.push_back(range);
  }
  return found;
}

std::vector<address_t> pool_memory_on(int device) {
  table_type& all = table();
  const std::shared_lock lock(all.mutex);
  std::vector<address_t> found;
  for (const auto& [base, range] : all.ranges) {
    if (range.pool && range.device == device) found.push_back(base);
  }
  return found;
}

}  // namespace registry

memory_range find(address_t address) {
  table_type& all = table();
  const std::shared_lock lock(all.mutex);
  auto found = all.ranges.upper_bound(address);
  if (found == all.ranges.begin()) return {};
  --found;
  const memory_range& range = found->second;
  return address - range.base < range.size ? range : memory_range{};
}

bool is_device_address(address_t address) {
  const address_space::span all = address_space::whole();
  return address >= all.begin && address < all.end;
}

}  // namespace memtrace::simulator
