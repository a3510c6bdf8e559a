// SPDX-License-Identifier: Apache-2.0
//
// Storages found in one go, to be recorded together: each address once. Where several tensors lie
// in one storage, tied tensors (each as large as the storage) have the first one's name, parts of
// it (flattened weights, gradient buckets) what their names have in common.
//
//   rnn.weight_ih_l0, rnn.weight_hh_l0, … in one storage ─► rnn.*
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "interpose/ground/recorder/recorder.h"
#include "interpose/sight/agent/short_names.h"

namespace memtrace::agent {

struct found_storage {
  format::storage_role role{};
  gpu_storage storage{};
  std::string_view name{};
  std::string_view detail{};  // empty: the data type
  std::uint32_t flags = 0;
};

class storage_batch {
 public:
  void add(const found_storage& found);
  // Records all; `object` is the root module or the optimizer.
  void record(recorder& to, std::uint32_t object);

 private:
  struct entry {
    found_storage first;
    std::string name;
  };
  std::vector<entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> by_address_;
};

// The longest common beginning that ends in a dot, and "*"; "*" alone when there is none.
[[nodiscard]] std::string common_name(std::string_view one, std::string_view other);

}  // namespace memtrace::agent
