// SPDX-License-Identifier: Apache-2.0
//
// The memory that this process holds on one device by CUDA calls, summed by who asked for it.
#pragma once

#include <cstdint>
#include <map>

#include "analyzer/model/replay/site_table.h"
#include "analyzer/trace/reader/records.h"

namespace memtrace::replay {

// Who asked for memory: a library, the program itself (an empty text), or nobody that is known:
// PyTorch's allocator, mostly.
struct owner_id {
  bool known = false;
  trace::text_id name;
  [[nodiscard]] auto operator<=>(const owner_id&) const = default;
};

enum class held_as : std::uint8_t {
  device,
  pool,      // from a stream-ordered pool, which holds more
  physical,  // VMM
  array,     // sizes are estimates
  managed,   // lies wherever it was touched: in no sum of a device
  pinned,    // host memory
  module     // code and its variables, by difference
};

struct cuda_holding {
  std::uint64_t bytes = 0;
  std::uint64_t context = 0;  // 0: the device's primary one
  std::uint32_t device = 0;
  held_as as{};
  bool in_segments = false;  // of PyTorch's caching allocator
  owner_id owner;
  site_id site;
  std::uint64_t id = 0;  // no other that is held at the same time has it; an address, if it has one
};

// The device takes memory in pages of 2 MiB: what is allocated from 1 MiB up has pages of its own,
// smaller allocations share some (simulated; on real GPUs unverified). So it takes each page that
// an allocation touches.
class page_count {
 public:
  static constexpr std::uint64_t page = 2u << 20;

  void add(std::uint64_t address, std::uint64_t bytes) { change(address, bytes, true); }
  void remove(std::uint64_t address, std::uint64_t bytes) { change(address, bytes, false); }
  [[nodiscard]] std::uint64_t bytes() const { return (inner_ + ends_.size()) * page; }

 private:
  void change(std::uint64_t address, std::uint64_t bytes, bool more) {
    if (bytes == 0) return;
    const auto first = address / page;
    const auto last = (address > ~bytes ? ~std::uint64_t{0} : address + bytes - 1) / page;
    touch(first, more);
    if (last == first) return;
    touch(last, more);
    more ? inner_ += last - first - 1 : inner_ -= last - first - 1;
  }
  void touch(std::uint64_t number, bool more) {
    if (more) {
      ++ends_[number];
    } else if (const auto found = ends_.find(number); found != ends_.end()) {
      if (--found->second == 0) ends_.erase(found);
    }
  }

  std::map<std::uint64_t, std::uint64_t> ends_;  // first and last pages: how many touch them
  std::uint64_t inner_ = 0;
};

struct held_bytes {
  std::uint64_t bytes = 0;
  std::uint64_t peak = 0;
};

struct device_holdings {
  // All device memory of calls, as asked for: also what PyTorch has of it.
  std::uint64_t bytes = 0;
  std::uint64_t peak_bytes = 0;
  trace::event peak;  // when it was first so high
  site_table sites;

  std::map<owner_id, held_bytes> owners;  // without what is in PyTorch's segments
  std::uint64_t in_segments = 0;
  std::uint64_t from_pools = 0;  // whoever asked for it
  std::uint64_t modules = 0;
  std::uint64_t managed = 0;

  // By what the driver's pages are more than what was asked for.
  [[nodiscard]] std::uint64_t rounding() const;

  page_count pages;
  std::uint64_t in_pages = 0;      // asked for, of what `pages` counts
  std::uint64_t array_pages = 0;   // of arrays from half a page up, rounded each
  std::uint64_t small_arrays = 0;  // bytes of the others
  std::uint64_t arrays = 0;        // bytes of all
};

}  // namespace memtrace::replay
