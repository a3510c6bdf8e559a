// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/contents.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "simulator/core/export.h"

namespace memtrace::simulator::contents {
namespace {

std::atomic<std::uint64_t> kernels{0};  // unknown ones that ran

using byte_string = std::vector<unsigned char>;

// A range of known bytes: byte i is bytes[(offset + i) % bytes.size()], so that a fill of any
// length is one value. Trimmed when part of it is overwritten.
struct piece {
  std::size_t size = 0;
  std::shared_ptr<const byte_string> bytes;
  std::size_t offset = 0;
  bool whole = true;          // not trimmed at its start
  bool real = true;           // see result()
  bool from_host = false;     // an upload
  std::uint64_t kernels = 0;  // that had run when it was written
  std::uint64_t age = 0;

  void read(unsigned char* to, std::size_t from, std::size_t count) const {
    std::size_t at = (offset + from) % bytes->size();
    while (count > 0) {
      const std::size_t run = std::min(count, bytes->size() - at);
      std::memcpy(to, bytes->data() + at, run);
      to += run;
      count -= run;
      at = 0;
    }
  }
};

constexpr std::size_t overhead = 128;  // of a piece in the maps, bytes

std::size_t cost(const piece& one) {
  return std::min(one.size, one.bytes->size()) + overhead;
}

class memory {
 public:
  void put(address_t to, piece one) {
    erase(to, one.size);
    one.kernels = kernels.load(std::memory_order_relaxed);
    insert(to, std::move(one));
    while (large_.cost > large_budget) drop(pieces_.find(large_.by_age.begin()->second));
    while (small_.cost + large_.cost > budget) {
      drop(pieces_.find(small_.by_age.begin()->second));
    }
  }

  // Forgets the range; what lies around it of a piece stays.
  void erase(address_t to, std::size_t bytes) {
    auto at = first(to);
    while (at != pieces_.end() && at->first < to + bytes) {
      const address_t start = at->first;
      piece old = at->second;
      at = drop(at);
      if (start < to) {
        piece left = old;
        left.size = to - start;
        insert(start, left);
      }
      const address_t end = start + old.size;
      if (end > to + bytes) {
        piece right = old;
        const std::size_t skipped = to + bytes - start;
        right.offset = (old.offset + skipped) % old.bytes->size();
        right.size = end - (to + bytes);
        right.whole = false;
        insert(to + bytes, right);
      }
    }
  }

  void erase_piece(address_t at, bool also_from_host) {
    const auto found = first(at);
    if (found == pieces_.end() || found->first > at) return;
    if (also_from_host || !found->second.from_host) drop(found);
  }

  // Calls visit(address, piece, offset in the piece, count) for each known part of the range.
  template <typename Visit>
  void visit(address_t from, std::size_t bytes, Visit visit) {
    for (auto at = first(from); at != pieces_.end() && at->first < from + bytes; ++at) {
      const address_t start = std::max(at->first, from);
      const address_t end = std::min(at->first + at->second.size, from + bytes);
      visit(start, at->second, start - at->first, end - start);
    }
  }

  [[nodiscard]] std::size_t cost_of_all() const { return small_.cost + large_.cost; }

  std::mutex lock;

 private:
  using map = std::map<address_t, piece>;

  map::iterator first(address_t at) {
    auto found = pieces_.upper_bound(at);
    if (found == pieces_.begin()) return found;
    const auto before = std::prev(found);
    return before->first + before->second.size > at ? before : found;
  }

  void insert(address_t at, piece one) {
    one.age = ++last_age_;
    kept& by_size = of_size(one);
    by_size.by_age[one.age] = at;
    by_size.cost += cost(one);
    pieces_[at] = std::move(one);
  }

  map::iterator drop(map::iterator at) {
    kept& by_size = of_size(at->second);
    by_size.cost -= cost(at->second);
    by_size.by_age.erase(at->second.age);
    return pieces_.erase(at);
  }

  struct kept {
    std::map<std::uint64_t, address_t> by_age;  // oldest first
    std::size_t cost = 0;
  };

  kept& of_size(const piece& one) { return cost(one) > large ? large_ : small_; }

  map pieces_;
  kept small_;
  kept large_;
  std::uint64_t last_age_ = 0;
};

// Never destroyed: threads may still copy while the process exits.
memory& known() {
  static memory* const one = new memory;
  return *one;
}

// See unknown_kernel_ran(): the start of an upload, read by fewer bytes than were uploaded.
bool doubtful(const piece& one, std::size_t offset, std::size_t count) {
  return one.whole && offset == 0 && count < one.size && one.bytes->size() > 8 &&
         one.kernels != kernels.load(std::memory_order_relaxed);
}

void remember(address_t to, const void* from, std::size_t bytes, bool real, bool from_host) {
  if (bytes == 0) return;
  const std::scoped_lock guard(known().lock);
  if (bytes > remember_limit) {
    known().erase(to, bytes);
    return;
  }
  const auto* const start = static_cast<const unsigned char*>(from);
  piece one;
  one.size = bytes;
  one.bytes = std::make_shared<const byte_string>(start, start + bytes);
  one.real = real;
  one.from_host = from_host;
  known().put(to, std::move(one));
}

}  // namespace

void upload(address_t to, const void* from, std::size_t bytes) {
  remember(to, from, bytes, true, true);
}

void result(address_t to, const void* from, std::size_t bytes, bool real) {
  remember(to, from, bytes, real, false);
}

void fill(address_t to, std::uint64_t value, std::size_t width, std::size_t count) {
  if (count == 0 || width == 0) return;
  byte_string pattern(width);
  std::memcpy(pattern.data(), &value, std::min(width, sizeof value));
  piece one;
  one.size = width * count;
  one.bytes = std::make_shared<const byte_string>(std::move(pattern));
  const std::scoped_lock guard(known().lock);
  if (value != 0 && one.size > remember_limit) {
    known().erase(to, one.size);
  } else {
    known().put(to, std::move(one));
  }
}

void copy(address_t to, address_t from, std::size_t bytes) {
  if (bytes == 0 || to == from) return;
  const std::scoped_lock guard(known().lock);
  std::vector<std::pair<address_t, piece>> copied;
  known().visit(from, bytes,
                [&](address_t start, const piece& one, std::size_t offset, std::size_t count) {
                  piece part = one;
                  part.size = count;
                  part.offset = (one.offset + offset) % one.bytes->size();
                  part.whole = offset == 0 && one.whole;
                  copied.emplace_back(to + (start - from), std::move(part));
                });
  known().erase(to, bytes);
  for (auto& [start, part] : copied) known().put(start, std::move(part));
}

void forget(address_t to, std::size_t bytes) {
  if (bytes == 0) return;
  const std::scoped_lock guard(known().lock);
  known().erase(to, bytes);
}

void computed_from(address_t to, std::size_t at_least) {
  constexpr std::size_t unit = 512;
  std::size_t bytes = at_least;
  if (to % unit == 0) bytes = (bytes + unit - 1) / unit * unit;
  const std::scoped_lock guard(known().lock);
  known().erase_piece(to, true);
  known().erase(to, bytes);
}

void maybe_computed(address_t to) {
  const std::scoped_lock guard(known().lock);
  known().erase_piece(to, false);
}

void unknown_kernel_ran() {
  kernels.fetch_add(1, std::memory_order_relaxed);
}

namespace {

// Host memory that was never written stays so: whoever moves a model of many GiB to the host, as a
// sleeping engine does, must not need that much of it here.
void clear(unsigned char* out, std::size_t bytes) {
  constexpr std::size_t page = 4096;
  for (std::size_t done = 0; done < bytes;) {
    const std::size_t count = std::min(page, bytes - done);
    unsigned char* const at = out + done;
    if (at[0] != 0 || std::memcmp(at, at + 1, count - 1) != 0) std::memset(at, 0, count);
    done += count;
  }
}

}  // namespace

std::size_t read_start(void* to, address_t from, std::size_t bytes) {
  auto* const out = static_cast<unsigned char*>(to);
  clear(out, bytes);
  std::size_t known_so_far = 0;
  const std::scoped_lock guard(known().lock);
  known().visit(from, bytes,
                [&](address_t start, const piece& one, std::size_t offset, std::size_t count) {
                  if (doubtful(one, offset, count)) return;
                  one.read(out + (start - from), offset, count);
                  if (one.real && start == from + known_so_far) known_so_far += count;
                });
  return known_so_far;
}

std::size_t remembered() {
  const std::scoped_lock guard(known().lock);
  return known().cost_of_all();
}

}  // namespace memtrace::simulator::contents

// Host memory that a GPU would have had on the device: a recorder takes it off the process's.
MEMTRACE_API std::size_t memtrace_simulator_holds() {
  return memtrace::simulator::contents::remembered();
}
