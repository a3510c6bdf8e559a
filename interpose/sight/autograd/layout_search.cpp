// SPDX-License-Identifier: Apache-2.0
//
// The classes as they were in 2.11.0 (c10/core/TensorImpl.h, StorageImpl.h,
// torch/csrc/autograd/variable.h, function.h, python_variable.h), in bytes:
//   THPVariable   16 tensor                         (in earlier ones 24: behind a flag)
//   TensorImpl    16 storage   24 autograd meta   64 dimensions and sizes   168 dtype, device
//   StorageImpl   16 data      48 bytes
//   AutogradMeta  40 gradient  48 grad_fn         144 requires_grad
//   Node          24 sequence number              48 thread
//                 96 edges, of 24 bytes
//                 in 2.15 8 bytes less each: it counts its references itself
//   AccumulateGrad   the leaf, right behind what it has as a Node
// Words that are followed are followed with readable_memory: a wrong guess ends the search only.
#include "interpose/sight/autograd/layout_search.h"

#include <cstring>

#include "interpose/sight/autograd/readable_memory.h"

namespace memtrace::autograd {
namespace {

constexpr std::uint16_t word_bytes = 8;
// How far the members that are looked for can be from the start of their object, in bytes.
constexpr std::uint16_t most_of_object = 32;  // THPVariable, THPCppFunction
constexpr std::uint16_t most_of_tensor = 192;
constexpr std::uint16_t most_of_storage = 96;
constexpr std::uint16_t most_of_meta = 256;
constexpr std::uint16_t most_of_node = 1024;
constexpr std::uint16_t python_header = 16;  // reference count, type
constexpr std::uint16_t cpp_header = 8;      // virtual functions

// A tensor of the probe and where its TensorImpl is.
struct found_tensor {
  const tensor_facts& facts;
  std::uint64_t impl = 0;
  std::uint64_t meta = 0;
};

class layout_finder {
 public:
  layout_finder(const layout_probe& probe, std::uint64_t thread, detail::layout& found) noexcept
      : probe_(probe), thread_(thread), found_(found) {}

  const char* find() noexcept {
    // 0 is what unreadable memory counts as.
    if (leaf_.facts.data == 0 || gradient_.facts.data == 0) return "the probe has no memory";
    if (!find_storage()) return "where a tensor keeps its storage was not found";
    if (!find_sizes()) return "where a tensor keeps its sizes was not found";
    if (!find_scalar_type()) return "where a tensor keeps its dtype was not found";
    if (!find_gradient()) return "where a tensor keeps its gradient was not found";
    if (!find_requires_grad()) return "where a tensor keeps requires_grad was not found";
    if (!find_node()) return "where a node keeps its sequence number was not found";
    if (!find_variable()) return "where AccumulateGrad keeps its tensor was not found";
    find_edges();
    return nullptr;
  }

 private:
  [[nodiscard]] std::uint64_t word(std::uint64_t object, unsigned offset) const noexcept {
    return memory_.word(object + offset);
  }

  // The offset of a member that holds `value`, from `begin` on; 0 if there is none.
  [[nodiscard]] std::uint16_t offset_of(std::uint64_t object, std::uint64_t value,
                                        std::uint16_t begin, std::uint16_t end) const noexcept {
    for (std::uint16_t at = begin; at < end; at += word_bytes) {
      if (word(object, at) == value) return at;
    }
    return 0;
  }

  // Object ─► tensor ─► storage ─► data: each step is right when the last one is, in every tensor.
  // In one it may be so by chance, as what stands behind an object in memory can be anything.
  bool find_storage() noexcept {
    for (std::uint16_t object = python_header; object < most_of_object; object += word_bytes) {
      const std::uint64_t impl = word(leaf_.facts.object, object);
      for (std::uint16_t tensor = cpp_header; tensor < most_of_tensor; tensor += word_bytes) {
        const std::uint64_t storage = word(impl, tensor);
        const std::uint16_t data =
            offset_of(storage, leaf_.facts.data, cpp_header, most_of_storage);
        if (data == 0) continue;
        found_.object_tensor = object;
        found_.storage = tensor;
        found_.data = data;
        found_.bytes = offset_of(storage, leaf_.facts.storage_bytes, data, most_of_storage);
        if (found_.bytes != 0 && storage_holds_everywhere()) return true;
      }
    }
    return false;
  }

  bool storage_holds_everywhere() noexcept {
    for (found_tensor* tensor : tensors_) {
      tensor->impl = word(tensor->facts.object, found_.object_tensor);
      const std::uint64_t storage = word(tensor->impl, found_.storage);
      if (word(storage, found_.data) != tensor->facts.data ||
          word(storage, found_.bytes) != tensor->facts.storage_bytes) {
        return false;
      }
    }
    return true;
  }

  [[nodiscard]] bool has_sizes(const found_tensor& tensor, unsigned offset) const noexcept {
    std::uint64_t words[4] = {};
    return memory_.copy(tensor.impl + offset, words, sizeof words) && words[0] == 3 &&
           std::memcmp(&words[1], tensor.facts.sizes, sizeof tensor.facts.sizes) == 0;
  }

  bool find_sizes() noexcept {
    for (std::uint16_t at = cpp_header; at < most_of_tensor; at += word_bytes) {
      bool everywhere = true;
      for (const found_tensor* tensor : tensors_) everywhere &= has_sizes(*tensor, at);
      if (!everywhere) continue;
      found_.sizes = at;
      return true;
    }
    return false;
  }

  // Two bytes, then the device: the CPU has type 0 and no index, which is -1, and is present.
  [[nodiscard]] bool has_scalar_type(const found_tensor& tensor, unsigned offset) const noexcept {
    unsigned char bytes[5] = {};
    return memory_.copy(tensor.impl + offset, bytes, sizeof bytes) &&
           bytes[0] == tensor.facts.scalar_type && bytes[1] == 0 && bytes[2] == 0 &&
           bytes[3] == 0xff && bytes[4] == 1;
  }

  bool find_scalar_type() noexcept {
    for (std::uint16_t at = cpp_header; at < most_of_tensor; at += 2) {
      bool everywhere = true;
      for (const found_tensor* tensor : tensors_) everywhere &= has_scalar_type(*tensor, at);
      if (!everywhere) continue;
      found_.scalar_type = at;
      return true;
    }
    return false;
  }

  // Its gradient is the undefined tensor, which has no device.
  [[nodiscard]] bool has_no_gradient(const found_tensor& tensor) const noexcept {
    unsigned char bytes[5] = {};
    const std::uint64_t undefined = word(tensor.meta, found_.gradient);
    return memory_.copy(undefined + found_.scalar_type, bytes, sizeof bytes) && bytes[4] == 0;
  }

  // The gradient is known, and so is the node that made the result. Both can stand elsewhere too: a
  // meta has bytes that nothing was written into yet, the room of a short name, with what was in
  // that memory before (seen in one process of a hundred); and it can stand right behind another
  // object of the tensor. So all other tensors have to agree: a leaf has no node, the others no
  // gradient.
  bool find_gradient() noexcept {
    for (std::uint16_t tensor = cpp_header; tensor < most_of_tensor; tensor += word_bytes) {
      for (found_tensor* each : tensors_) each->meta = word(each->impl, tensor);
      if (leaf_.meta == 0 || plain_.meta == 0 || result_.meta == 0) continue;
      found_.autograd_meta = tensor;
      if (find_gradient_in_meta() && find_node_in_meta()) return true;
    }
    return false;
  }

  bool find_gradient_in_meta() noexcept {
    return is_somewhere_in_meta([this](std::uint16_t at) {
      found_.gradient = at;
      return word(leaf_.meta, at) == gradient_.impl && has_no_gradient(plain_) &&
             has_no_gradient(result_);
    });
  }

  bool find_node_in_meta() noexcept {
    const std::uint64_t node = word(probe_.node, python_header);
    return is_somewhere_in_meta([this, node](std::uint16_t at) {
      found_.grad_fn = at;
      return word(result_.meta, at) == node && word(leaf_.meta, at) == 0 &&
             word(plain_.meta, at) == 0;
    });
  }

  template <typename Holds>
  bool is_somewhere_in_meta(Holds holds) noexcept {
    for (std::uint16_t at = cpp_header; at < most_of_meta; at += word_bytes) {
      if (holds(at)) return true;
    }
    return false;
  }

  // Three flags begin a word: requires_grad of leaves, retains_grad and is_view; all are off in
  // the other two tensors.
  bool find_requires_grad() noexcept {
    constexpr std::uint64_t three_bytes = 0xffffff;
    const auto begin = static_cast<std::uint16_t>(found_.grad_fn + 2 * word_bytes);
    for (std::uint16_t at = begin; at < most_of_meta; at += word_bytes) {
      if ((word(leaf_.meta, at) & three_bytes) != 1) continue;
      if ((word(plain_.meta, at) & three_bytes) != 0) continue;
      if ((word(result_.meta, at) & three_bytes) != 0) continue;
      found_.requires_grad = at;
      return true;
    }
    return false;
  }

  bool find_node() noexcept {
    const std::uint64_t node = word(probe_.node, python_header);
    // The two small numbers can stand elsewhere by chance: both at known places, or not.
    for (const std::uint16_t begin : {std::uint16_t{24}, std::uint16_t{16}}) {
      found_.sequence_number = begin;
      found_.thread = static_cast<std::uint16_t>(begin + 3 * word_bytes);
      if (word(node, found_.sequence_number) == probe_.sequence_number &&
          word(node, found_.thread) == thread_) {
        return true;
      }
    }
    return false;
  }

  // In both nodes, as a node has bytes, too, that nothing was written into yet.
  bool find_variable() noexcept {
    const std::uint64_t node = word(probe_.accumulate, python_header);
    const std::uint64_t other_node = word(probe_.other_accumulate, python_header);
    const std::uint64_t other_leaf = word(probe_.other_leaf, found_.object_tensor);
    found_.variable = 0;
    for (std::uint16_t at = found_.thread; at < most_of_node && found_.variable == 0;
         at += word_bytes) {
      if (word(node, at) == leaf_.impl && word(other_node, at) == other_leaf) found_.variable = at;
    }
    return found_.variable != 0;
  }

  // A vector with one edge, which begins with the address of the leaf's AccumulateGrad. Nothing but
  // a heap scan needs it.
  void find_edges() noexcept {
    constexpr std::uint64_t most_of_edge = 64;
    const std::uint64_t node = word(probe_.node, python_header);
    const std::uint64_t next = word(probe_.accumulate, python_header);
    const auto begin = static_cast<std::uint16_t>(found_.thread + word_bytes);
    found_.edges = 0;
    for (std::uint16_t at = begin; at < found_.variable; at += word_bytes) {
      const std::uint64_t first = word(node, at);
      const std::uint64_t bytes = word(node, at + word_bytes) - first;
      if (first == 0 || bytes == 0 || bytes > most_of_edge || word(first, 0) != next) continue;
      found_.edges = at;
      found_.edge_bytes = static_cast<std::uint16_t>(bytes);
      return;
    }
  }

  const layout_probe& probe_;
  const std::uint64_t thread_;
  detail::layout& found_;
  const readable_memory memory_{};
  found_tensor leaf_{probe_.leaf};
  found_tensor gradient_{probe_.gradient};
  found_tensor result_{probe_.result};
  found_tensor plain_{probe_.plain};
  found_tensor* const tensors_[4] = {&leaf_, &gradient_, &result_, &plain_};
};

}  // namespace

const char* search_layout(const layout_probe& probe, std::uint64_t thread,
                          detail::layout& found) noexcept {
  return layout_finder(probe, thread, found).find();
}

}  // namespace memtrace::autograd
