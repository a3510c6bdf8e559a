// SPDX-License-Identifier: Apache-2.0
//
// Autograd's nodes and what they hold, without a load from them: they belong to C++, and a backward
// pass in another thread may free them. What is read are copies that the kernel makes
// (readable_memory), and a node that cannot be copied is left out.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interpose/sight/autograd/readable_memory.h"
#include "interpose/sight/heap_scan/storage_reader.h"

namespace memtrace::heap_scan {

class graph_nodes {
 public:
  enum class kind : std::uint8_t { ordinary, accumulates_gradient, of_python };
  struct copy {
    const void* original = nullptr;
    const void* functions = nullptr;  // one address for each class
    kind what = kind::ordinary;
    // The leaf of one that accumulates its gradient; the object of one that is made in Python.
    const void* holds = nullptr;
  };

  explicit graph_nodes(const autograd::readable_memory& memory);

  // False: nothing of it can be read. Where it leads to is added to `next`.
  [[nodiscard]] bool read(const void* original, copy& into, std::vector<const void*>& next);
  // As read_impl(), of a tensor that a node holds; the tensor's own graph is not looked at.
  [[nodiscard]] bool read_tensor(const void* impl, seen_storage& seen) const noexcept;

 private:
  [[nodiscard]] kind kind_of(const void* functions);
  [[nodiscard]] kind look_at(const void* functions) const;
  void add_edges(std::vector<const void*>& next);

  const autograd::readable_memory& memory_;
  std::vector<std::uint64_t> words_;  // what every node has, and the word behind
  std::vector<std::uint64_t> edges_;
  std::unordered_map<const void*, kind> kinds_;
};

}  // namespace memtrace::heap_scan
