// SPDX-License-Identifier: Apache-2.0
//
// Physical memory of CUDA's virtual memory management: it is there from its creation until its last
// release and its last unmap, whichever is later. A handle's number may come again while what it
// named is still mapped.
//
//   create ──► [releases 1, mapped 0] ──map──► [1, 1] ──release──► [0, 1] ──unmap──► gone
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "analyzer/model/replay/device_holdings.h"

namespace memtrace::replay {

struct physical_object {
  cuda_holding held;
  std::uint64_t releases = 0;  // still to come
  std::uint64_t mappings = 0;  // parts of it that are mapped
  bool is_counted = false;     // by who adds up
  [[nodiscard]] bool is_there() const { return releases != 0 || mappings != 0; }
};

class physical_memory {
 public:
  using object = std::shared_ptr<physical_object>;
  struct piece {
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
    object of;
  };

  // Foreign memory and memory of several devices has no bytes here, but handles like the rest.
  // `before`: what the handle named and was never released, where records are missing.
  struct created {
    object made;
    object before;
  };
  created create(std::uint64_t handle, const cuda_holding& held);
  void map(std::uint64_t address, std::uint64_t bytes, std::uint64_t handle);
  void retain(std::uint64_t address, std::uint64_t handle);

  // Null where the handle names nothing.
  object release(std::uint64_t handle);
  void undo_release(std::uint64_t handle, const object& released);
  // Returns the mappings that were there; they are cut where they reach beyond.
  std::vector<piece> unmap(std::uint64_t address, std::uint64_t bytes);
  void undo_unmap(const piece& unmapped) { insert(unmapped); }

  // Calls `visit(physical_object&)` for each mapping within the range, until it returns false.
  template <typename Visit>
  void for_each_mapped(std::uint64_t address, std::uint64_t bytes, Visit visit) {
    const auto end = end_of(address, bytes);
    for (auto at = first_beyond(address); at != pieces_.end() && at->first < end; ++at) {
      if (!visit(*at->second.of)) return;
    }
  }

 private:
  using map_type = std::map<std::uint64_t, piece>;  // by begin

  [[nodiscard]] static std::uint64_t end_of(std::uint64_t address, std::uint64_t bytes) {
    return address > ~bytes ? ~std::uint64_t{0} : address + bytes;
  }
  // The first mapping that ends after the address.
  [[nodiscard]] map_type::iterator first_beyond(std::uint64_t address);
  void insert(const piece& made);

  std::map<std::uint64_t, object> by_handle_;
  map_type pieces_;
};

}  // namespace memtrace::replay
