// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/graph_nodes.h"

#include <algorithm>
#include <string>

#include "interpose/sight/autograd/class_name.h"
#include "interpose/sight/autograd/python_nodes.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/autograd/tensor_storages.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t chunk_bytes = 4096;
// In any version; what is read of one lies within.
constexpr std::size_t tensor_words = 24;
constexpr std::size_t storage_words = 16;
// More sizes than these stand beside the tensor.
constexpr std::uint32_t sizes_inside = 5;
constexpr std::size_t most_edges = 1u << 12;

std::uint64_t word_of(const void* pointer) noexcept {
  return reinterpret_cast<std::uint64_t>(pointer);
}

std::string text_at(const autograd::readable_memory& memory, std::uint64_t at) {
  constexpr std::size_t longest = 256;
  std::string text;
  while (text.size() < longest) {
    const std::uint64_t word = memory.word(at + text.size());
    for (std::size_t i = 0; i < word_bytes; ++i) {
      const char character = static_cast<char>(word >> (8 * i));
      if (character == '\0') return text;
      text += character;
    }
  }
  return text;
}

}  // namespace

graph_nodes::graph_nodes(const autograd::readable_memory& memory)
    : memory_(memory), words_(autograd::bytes_of_any_node() / word_bytes + 1) {}

// As mangled_class() finds it, word by word.
graph_nodes::kind graph_nodes::look_at(const void* functions) const {
  const std::uint64_t information = memory_.word(word_of(functions) - word_bytes);
  const std::uint64_t name = memory_.word(information + word_bytes);
  const std::string text = name == 0 ? std::string{} : text_at(memory_, name);
  const std::string_view last =
      autograd::last_part(text.starts_with('*') ? std::string_view(text).substr(1) : text);
  if (last == "AccumulateGrad") return kind::accumulates_gradient;
  return autograd::is_python_node(last) ? kind::of_python : kind::ordinary;
}

graph_nodes::kind graph_nodes::kind_of(const void* functions) {
  const auto known = kinds_.find(functions);
  return known != kinds_.end() ? known->second : kinds_[functions] = look_at(functions);
}

void graph_nodes::add_edges(std::vector<const void*>& next) {
  const autograd::node_edges edges = autograd::edges_of(words_.data());
  const std::size_t edge_words = edges.edge_bytes / word_bytes;
  if (edges.count == 0 || edge_words == 0) return;
  edges_.resize(std::min(edges.count, most_edges) * edge_words);
  const std::uint64_t first = word_of(edges.first);
  for (std::size_t at = 0; at < edges_.size() * word_bytes; at += chunk_bytes) {
    const std::size_t bytes = std::min(edges_.size() * word_bytes - at, chunk_bytes);
    if (!memory_.copy(first + at, edges_.data() + at / word_bytes, bytes)) return;
  }
  for (std::size_t i = 0; i < edges_.size(); i += edge_words) {
    if (edges_[i] != 0) next.push_back(reinterpret_cast<const void*>(edges_[i]));
  }
}

bool graph_nodes::read(const void* original, copy& into, std::vector<const void*>& next) {
  if (!memory_.copy(word_of(original), words_.data(), words_.size() * word_bytes)) return false;
  into.original = original;
  into.functions = autograd::functions_of(words_.data());
  into.what = kind_of(into.functions);
  into.holds = into.what == kind::of_python
                   ? reinterpret_cast<const void*>(autograd::context_in(words_.data()))
                   : autograd::accumulated(words_.data());
  add_edges(next);
  return true;
}

bool graph_nodes::read_tensor(const void* impl, seen_storage& seen) const noexcept {
  std::uint64_t tensor[tensor_words];
  if (!memory_.copy(word_of(impl), tensor, sizeof tensor)) return false;
  if (!autograd::is_defined(tensor) || !autograd::is_cuda(tensor)) return false;
  const void* const from = autograd::storage_of(tensor);
  std::uint64_t storage[storage_words];
  if (from == nullptr || !memory_.copy(word_of(from), storage, sizeof storage)) return false;
  seen.address = autograd::address_in(storage);
  seen.bytes = autograd::bytes_in(storage);
  const bool has_sizes = autograd::dimensions(tensor) <= sizes_inside;
  seen.used_bytes = has_sizes ? autograd::tensor_bytes(tensor) : seen.bytes;
  if (has_sizes) seen.shape = shape_of(tensor, seen);
  return seen.address != 0;
}

}  // namespace memtrace::heap_scan
