// SPDX-License-Identifier: Apache-2.0
//
// The tensors that an object of a C++ class keeps, where the class is not known: words that point
// to a TensorImpl, in the object itself and in its arrays (std::vector).
//
// A saved tensor is one such word (SavedVariable begins with its tensor) at a place that its
// class of node always has it. So the places are learnt from the first objects of a class, word by
// word; later ones are read at these places only. A block of the heap is up to 31 bytes longer than
// its object, and what was there before stays in them: no word is ever followed but through
// readable_memory, and what it points to must still be in use.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "interpose/sight/autograd/readable_memory.h"

namespace memtrace::heap_scan {

class node_contents {
 public:
  // Virtual functions of the TensorImpls that are looked for.
  node_contents(const autograd::readable_memory& memory, const void* tensor_functions) noexcept
      : memory_(memory), tensor_functions_(reinterpret_cast<std::uint64_t>(tensor_functions)) {}

  // The TensorImpls in these bytes of an object of this class (any address that is the class's
  // own), until the next call; none where the bytes cannot be read.
  [[nodiscard]] const std::vector<const void*>& tensors(const void* its_class, const void* begin,
                                                        std::size_t bytes);

 private:
  enum class content : std::uint8_t { unknown, tensor, array, other };
  [[nodiscard]] bool is_tensor(std::uint64_t word) const noexcept;
  void learn(content& known, const std::uint64_t* words, std::size_t left);
  // Elements are tensors or begin with a tensor, or there are none: then false.
  bool read_array(std::uint64_t begin, std::uint64_t end);
  [[nodiscard]] bool is_array_of(std::size_t element_words) const;

  [[nodiscard]] bool copy(std::uint64_t from, std::vector<std::uint64_t>& to) const noexcept;

  const autograd::readable_memory& memory_;
  const std::uint64_t tensor_functions_;
  std::unordered_map<const void*, std::vector<content>> classes_;
  std::vector<const void*> found_;
  std::vector<std::uint64_t> words_;  // of the object
  std::vector<std::uint64_t> array_;  // of one of its arrays
};

}  // namespace memtrace::heap_scan
