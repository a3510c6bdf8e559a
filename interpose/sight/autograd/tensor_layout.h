// SPDX-License-Identifier: Apache-2.0
//
// Where PyTorch's tensors and autograd's nodes keep what we read of them. We do not compile
// against torch, and its classes change from version to version: the offsets are found once in
// this process, by looking for values that Python knows, and nothing is read before.
//
//   agent (Python): makes four small CPU tensors and tells what they are ──► confirm(probe)
//   confirm(): searches the objects for these values ──► offsets, or false and nothing is ever read
//
//   PyObject ─► TensorImpl ─┬─► StorageImpl: data pointer, bytes
//                           ├─► AutogradMeta: gradient, node that made it (grad_fn), requires_grad
//                           └─ dimensions and sizes, dtype, device
//   Node: sequence number, thread;  AccumulateGrad: the leaf tensor
//
// All functions but confirm() want is_confirmed(), take the address of a live object, read a few
// words and allocate nothing. Any thread, under any lock.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace memtrace::autograd {

// One tensor as Python sees it. All members of a probe are 64-bit words, in this order, so that
// Python can pass an array of integers.
struct tensor_facts {
  std::uint64_t object;         // id(tensor)
  std::uint64_t data;           // tensor.untyped_storage().data_ptr()
  std::uint64_t storage_bytes;  // tensor.untyped_storage().nbytes()
  std::uint64_t scalar_type;    // c10::ScalarType: float32 6, float64 7, bfloat16 15
  std::uint64_t sizes[3];       // tensor.shape: three dimensions, sizes that differ
};

// with torch.inference_mode(False), torch.enable_grad():
//   leaf = torch.zeros(3, 5, 7, device="cpu", dtype=torch.float32, requires_grad=True)
//   leaf.grad = gradient = torch.zeros_like(leaf)
//   result = leaf * 2
//   plain = torch.zeros(2, 11, 13, device="cpu", dtype=torch.bfloat16)
//   plain.requires_grad_(True).requires_grad_(False)
//   node = result.grad_fn
//   other = torch.zeros(3, 5, 7, device="cpu", dtype=torch.float32, requires_grad=True)
// Ordinary tensors (type(leaf) is torch.Tensor): not while a dispatch mode is active. They and the
// Python objects of nodes live until confirm() has returned; the thread is that which made
// them. The GIL is held.
struct layout_probe {
  tensor_facts leaf;
  tensor_facts gradient;
  tensor_facts result;
  tensor_facts plain;
  std::uint64_t node;              // id(node)
  std::uint64_t sequence_number;   // node._sequence_nr()
  std::uint64_t accumulate;        // id(node.next_functions[0][0]), the leaf's AccumulateGrad
  std::uint64_t other_leaf;        // id(other), made as leaf
  std::uint64_t other_accumulate;  // id of its AccumulateGrad
};
inline constexpr std::size_t layout_probe_words = sizeof(layout_probe) / sizeof(std::uint64_t);

// True when every offset was found (from then on is_confirmed()). Once only: what a first call
// decided stays. False: info `autograd` says why, and nothing reads tensors in this process.
[[nodiscard]] bool confirm(const layout_probe& probe) noexcept;

namespace detail {

// Byte offsets.
struct layout {
  std::uint16_t object_tensor;    // in THPVariable
  std::uint16_t storage;          // in TensorImpl
  std::uint16_t autograd_meta;    //
  std::uint16_t sizes;            // number of dimensions, then up to 5 sizes, or their address
  std::uint16_t scalar_type;      // two bytes; then the optional device: type, index, present
  std::uint16_t data;             // in StorageImpl
  std::uint16_t bytes;            //
  std::uint16_t gradient;         // in AutogradMeta
  std::uint16_t grad_fn;          //
  std::uint16_t requires_grad;    // one byte, of leaf tensors
  std::uint16_t sequence_number;  // in Node
  std::uint16_t thread;           //
  std::uint16_t variable;         // in AccumulateGrad
  std::uint16_t edges;            // in Node; 0: not found, and nodes are not followed
  std::uint16_t edge_bytes;       // of one of them
};
extern std::atomic<bool> confirmed;
extern layout offsets;

template <typename T>
[[nodiscard]] inline T load(const void* object, std::size_t offset) noexcept {
  T value;
  std::memcpy(&value, static_cast<const char*>(object) + offset, sizeof value);
  return value;
}

}  // namespace detail

[[nodiscard]] inline bool is_confirmed() noexcept {
  return detail::confirmed.load(std::memory_order_acquire);
}

// The TensorImpl behind a torch.Tensor (or an instance of a subclass of it).
[[nodiscard]] inline const void* impl_of(const void* python_object) noexcept {
  return detail::load<const void*>(python_object, detail::offsets.object_tensor);
}

// A tensor that is there (not the undefined one), on a CUDA device.
[[nodiscard]] bool is_defined(const void* impl) noexcept;
[[nodiscard]] bool is_cuda(const void* impl) noexcept;

// It is the undefined tensor, of which there is one. Any word may be asked about: it is not read.
[[nodiscard]] bool is_the_undefined(const void* impl) noexcept;

// The memory of the tensor's storage, whole: 0 where there is none (fake, sparse, wrapping and
// undefined tensors).
[[nodiscard]] std::uint64_t storage_address(const void* impl) noexcept;
[[nodiscard]] std::uint64_t storage_bytes(const void* impl) noexcept;

// The StorageImpl itself, which Python's storages have too; null where there is none.
[[nodiscard]] inline const void* storage_of(const void* impl) noexcept {
  return detail::load<const void*>(impl, detail::offsets.storage);
}
[[nodiscard]] inline std::uint64_t address_in(const void* storage) noexcept {
  return detail::load<std::uint64_t>(storage, detail::offsets.data);
}
[[nodiscard]] std::uint64_t bytes_in(const void* storage) noexcept;
// By c10::DataPtr, as it was in 2.4 to 2.11: to be compared with a tensor's own device first.
[[nodiscard]] bool is_cuda_memory(const void* storage) noexcept;

[[nodiscard]] std::uint32_t scalar_type(const void* impl) noexcept;
[[nodiscard]] std::uint32_t dimensions(const void* impl) noexcept;
[[nodiscard]] std::uint64_t size(const void* impl, std::uint32_t dimension) noexcept;

// .grad, or null. As tensor.requires_grad and tensor.is_leaf say.
[[nodiscard]] const void* gradient_of(const void* impl) noexcept;
[[nodiscard]] bool requires_grad(const void* impl) noexcept;
[[nodiscard]] bool is_leaf(const void* impl) noexcept;

// The Node that made the tensor, or null.
[[nodiscard]] const void* node_of(const void* impl) noexcept;

// The nodes that a node's backward goes on to. A node and what it holds change without the GIL
// while a backward pass runs.
struct node_edges {
  const char* first = nullptr;
  std::size_t count = 0;
  std::size_t edge_bytes = 0;
  // Null where there is none.
  [[nodiscard]] const void* operator[](std::size_t number) const noexcept {
    return *reinterpret_cast<const void* const*>(first + number * edge_bytes);
  }
};
[[nodiscard]] node_edges edges_of(const void* node) noexcept;
// How many bytes every node has; what its class adds comes behind.
[[nodiscard]] std::size_t bytes_of_any_node() noexcept;

// From a Node: the leaf tensor of an AccumulateGrad (a TensorImpl).
[[nodiscard]] std::uint64_t sequence_number(const void* node) noexcept;
[[nodiscard]] std::uint64_t thread_of(const void* node) noexcept;
[[nodiscard]] const void* accumulated(const void* node) noexcept;

}  // namespace memtrace::autograd
