// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/tensor_layout.h"

#include <atomic>

#include "interpose/sight/autograd/layout_search.h"
#include "interpose/sight/autograd/status.h"
#include "interpose/sight/autograd/torch_functions.h"

namespace memtrace::autograd {
namespace {

using detail::load;

constexpr signed char cuda_type = 1;  // c10::DeviceType
constexpr std::uint32_t sizes_inside = 5;

const void* undefined = nullptr;
std::atomic<bool> decided{false};

const detail::layout& at() noexcept {
  return detail::offsets;
}

const void* meta_of(const void* impl) noexcept {
  return load<const void*>(impl, at().autograd_meta);
}

struct device {
  signed char type;
  signed char index;
  bool present;
};

device device_of(const void* impl) noexcept {
  return {load<signed char>(impl, at().scalar_type + 2u),
          load<signed char>(impl, at().scalar_type + 3u),
          load<unsigned char>(impl, at().scalar_type + 4u) != 0};
}

}  // namespace

std::atomic<bool> detail::confirmed{false};
detail::layout detail::offsets{};

bool confirm(const layout_probe& probe) noexcept {
  if (decided.exchange(true, std::memory_order_acq_rel)) return is_confirmed();
  const torch_functions* const torch = find_torch_functions();
  if (torch == nullptr || torch->thread_id == nullptr) {
    status::tensors_are_off("at::RecordFunction::currentThreadId is missing");
    return false;
  }
  const char* const missing = search_layout(probe, torch->thread_id(), detail::offsets);
  if (missing != nullptr) {
    status::tensors_are_off(missing);
    return false;
  }
  // The gradient of a tensor without one, which the search has looked at.
  const auto* const plain = impl_of(reinterpret_cast<const void*>(probe.plain.object));
  undefined = load<const void*>(meta_of(plain), at().gradient);
  detail::confirmed.store(true, std::memory_order_release);
  status::tensors_are_on();
  return true;
}

bool is_defined(const void* impl) noexcept {
  return device_of(impl).present;
}

bool is_cuda(const void* impl) noexcept {
  const device where = device_of(impl);
  return where.present && where.type == cuda_type;
}

bool is_the_undefined(const void* impl) noexcept {
  return impl == undefined;
}

std::uint64_t bytes_in(const void* storage) noexcept {
  return load<std::uint64_t>(storage, at().bytes);
}

bool is_cuda_memory(const void* storage) noexcept {
  constexpr std::size_t device = 24;  // behind the data, its context and its deleter
  return load<signed char>(storage, at().data + device) == cuda_type;
}

std::uint64_t storage_address(const void* impl) noexcept {
  const void* const storage = storage_of(impl);
  return storage == nullptr ? 0 : address_in(storage);
}

std::uint64_t storage_bytes(const void* impl) noexcept {
  const void* const storage = storage_of(impl);
  return storage == nullptr ? 0 : bytes_in(storage);
}

std::uint32_t scalar_type(const void* impl) noexcept {
  return load<std::uint16_t>(impl, at().scalar_type);
}

std::uint32_t dimensions(const void* impl) noexcept {
  return load<std::uint32_t>(impl, at().sizes);
}

std::uint64_t size(const void* impl, std::uint32_t dimension) noexcept {
  const std::size_t first = at().sizes + sizeof(std::uint64_t);
  const std::size_t offset = dimension * sizeof(std::uint64_t);
  if (dimensions(impl) <= sizes_inside) return load<std::uint64_t>(impl, first + offset);
  return load<std::uint64_t>(load<const void*>(impl, first), offset);
}

const void* gradient_of(const void* impl) noexcept {
  const void* const meta = meta_of(impl);
  if (meta == nullptr) return nullptr;
  const auto* const gradient = load<const void*>(meta, at().gradient);
  return gradient != nullptr && is_defined(gradient) ? gradient : nullptr;
}

bool requires_grad(const void* impl) noexcept {
  const void* const meta = meta_of(impl);
  return meta != nullptr && (load<unsigned char>(meta, at().requires_grad) != 0 ||
                             load<const void*>(meta, at().grad_fn) != nullptr);
}

bool is_leaf(const void* impl) noexcept {
  const void* const meta = meta_of(impl);
  return meta == nullptr || load<const void*>(meta, at().grad_fn) == nullptr;
}

const void* node_of(const void* impl) noexcept {
  const void* const meta = meta_of(impl);
  return meta == nullptr ? nullptr : load<const void*>(meta, at().grad_fn);
}

node_edges edges_of(const void* node) noexcept {
  constexpr std::size_t most_edges = 1u << 20;
  if (at().edges == 0) return {};
  const auto* const first = load<const char*>(node, at().edges);
  const auto* const end = load<const char*>(node, at().edges + sizeof(void*));
  if (first == nullptr || end <= first) return {};
  const std::size_t count = static_cast<std::size_t>(end - first) / at().edge_bytes;
  return count > most_edges ? node_edges{} : node_edges{first, count, at().edge_bytes};
}

std::size_t bytes_of_any_node() noexcept {
  return at().variable;
}

std::uint64_t sequence_number(const void* node) noexcept {
  return load<std::uint64_t>(node, at().sequence_number);
}

std::uint64_t thread_of(const void* node) noexcept {
  return load<std::uint64_t>(node, at().thread);
}

const void* accumulated(const void* node) noexcept {
  return load<const void*>(node, at().variable);
}

}  // namespace memtrace::autograd
