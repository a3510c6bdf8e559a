// SPDX-License-Identifier: Apache-2.0
#include "simulator/untouched/tensor.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include "simulator/untouched/torch_function.h"

namespace memtrace::simulator::untouched {
namespace {

// The functions return 0 where they worked.
template <typename Result>
using question = torch_function<std::int32_t(const void*, Result*)>;

constinit question<std::int64_t> ask_elements{"aoti_torch_get_numel"};
constinit question<std::int32_t> ask_device{"aoti_torch_get_device_type"};
constinit question<std::int32_t> ask_type{"aoti_torch_get_dtype"};
constinit question<std::int32_t> ask_layout{"aoti_torch_get_layout"};
constinit question<std::int64_t> ask_dimensions{"aoti_torch_get_dim"};
constinit question<const std::int64_t*> ask_sizes{"aoti_torch_get_sizes"};
constinit question<const std::int64_t*> ask_strides{"aoti_torch_get_strides"};
constinit question<void*> ask_data{"aoti_torch_get_data_ptr"};
constinit torch_function<std::int32_t(std::int64_t, const std::int64_t*, const std::int64_t*,
                                      std::int32_t, std::int32_t, std::int32_t, void**)>
    make_empty{"aoti_torch_empty_strided"};
constinit torch_function<std::int32_t(void*)> delete_tensor{"aoti_torch_delete_tensor_object"};

template <typename Result>
bool ask(question<Result>& about, const void* tensor, Result& answer) noexcept {
  auto* const function = about.get();
  return function != nullptr && function(tensor, &answer) == 0;
}

// Values of c10::ScalarType, from 0: those whose zero is a zero of bits. 0: complex, quantised, or
// unknown.
constexpr std::array<std::uint8_t, 16> element_bytes{1, 1, 2, 4, 8, 2, 4, 8,
                                                     0, 0, 0, 1, 0, 0, 0, 2};
constexpr std::int64_t most_dimensions = 16;
constexpr std::int32_t host = 0;     // c10::DeviceType::CPU
constexpr std::int32_t strided = 0;  // c10::Layout::Strided

struct shape {
  std::int64_t dimensions = 0;
  const std::int64_t* sizes = nullptr;
  const std::int64_t* strides = nullptr;
};

// Elements from the first to the last; 0 where strides are negative or the numbers too large.
std::int64_t span_of(const shape& of) noexcept {
  std::int64_t last = 0;
  for (std::int64_t i = 0; i < of.dimensions; ++i) {
    std::int64_t reach = 0;
    if (of.strides[i] < 0 || __builtin_mul_overflow(of.sizes[i] - 1, of.strides[i], &reach) ||
        __builtin_add_overflow(last, reach, &last)) {
      return 0;
    }
  }
  return last + 1;
}

// Whether each element has a place of its own and no place is left over.
bool has_no_holes(const shape& of) noexcept {
  std::array<std::int64_t, most_dimensions> order;
  for (std::int64_t i = 0; i < of.dimensions; ++i) order[static_cast<std::size_t>(i)] = i;
  std::sort(order.begin(), order.begin() + of.dimensions,
            [&](std::int64_t a, std::int64_t b) { return of.strides[a] < of.strides[b]; });
  std::int64_t expected = 1;
  for (std::int64_t i = 0; i < of.dimensions; ++i) {
    const std::int64_t dimension = order[static_cast<std::size_t>(i)];
    if (of.sizes[dimension] == 1) continue;
    if (of.strides[dimension] != expected) return false;
    expected *= of.sizes[dimension];
  }
  return true;
}

bool is_in_order(const shape& of) noexcept {
  std::int64_t expected = 1;
  for (std::int64_t i = of.dimensions - 1; i >= 0; --i) {
    if (of.sizes[i] != 1 && of.strides[i] != expected) return false;
    expected *= of.sizes[i];
  }
  return true;
}

bool look(const void* tensor, host_tensor& found, shape& of) noexcept {
  std::int32_t device = -1, type = -1, layout = -1;
  // First what most tensors fail by.
  if (!ask(ask_elements, tensor, found.elements) ||
      found.elements < static_cast<std::int64_t>(smallest / 8)) {
    return false;
  }
  if (!ask(ask_device, tensor, device) || device != host) return false;
  if (!ask(ask_type, tensor, type) || type < 0 || type >= std::int32_t(element_bytes.size()) ||
      element_bytes[static_cast<std::size_t>(type)] == 0) {
    return false;
  }
  found.type = static_cast<scalar_type>(type);
  if (!ask(ask_layout, tensor, layout) || layout != strided) return false;
  if (!ask(ask_dimensions, tensor, of.dimensions) || of.dimensions > most_dimensions ||
      !ask(ask_sizes, tensor, of.sizes) || !ask(ask_strides, tensor, of.strides)) {
    return false;
  }
  std::int64_t bytes = 0;
  if (__builtin_mul_overflow(span_of(of), std::int64_t(element_bytes[std::size_t(type)]), &bytes)) {
    return false;
  }
  found.bytes = static_cast<std::size_t>(bytes);
  found.is_contiguous = is_in_order(of);
  return found.bytes >= smallest && ask(ask_data, tensor, found.data) && found.data != nullptr;
}

}  // namespace

bool large_on_host(const void* tensor, host_tensor& found) noexcept {
  shape of;
  return look(tensor, found, of) && has_no_holes(of);
}

bool large_span_on_host(const void* tensor, host_tensor& found) noexcept {
  shape of;
  return look(tensor, found, of);
}

bool number_in(const void* tensor, double& value) noexcept {
  std::int64_t dimensions = -1;
  std::int32_t device = -1, type = -1;
  void* data = nullptr;
  if (!ask(ask_dimensions, tensor, dimensions) || dimensions != 0) return false;
  if (!ask(ask_device, tensor, device) || device != host) return false;
  if (!ask(ask_type, tensor, type) || !ask(ask_data, tensor, data) || data == nullptr) return false;
  switch (static_cast<scalar_type>(type)) {
    case scalar_type::wide:
      value = *static_cast<const double*>(data);
      return true;
    case scalar_type::real:
      value = static_cast<double>(*static_cast<const float*>(data));
      return true;
    case scalar_type::int64:
      value = static_cast<double>(*static_cast<const std::int64_t*>(data));
      return true;
    default:
      return false;
  }
}

bool have_same_sizes(const void* one, const void* other) noexcept {
  std::int64_t dimensions = -1, others = -1;
  const std::int64_t *sizes = nullptr, *other_sizes = nullptr;
  return ask(ask_dimensions, one, dimensions) && ask(ask_dimensions, other, others) &&
         dimensions == others && ask(ask_sizes, one, sizes) && ask(ask_sizes, other, other_sizes) &&
         std::equal(sizes, sizes + dimensions, other_sizes);
}

vector::vector(std::int64_t elements, scalar_type type) noexcept {
  auto* const make = make_empty.get();
  const std::int64_t stride = 1;
  if (make == nullptr || delete_tensor.get() == nullptr ||
      make(1, &elements, &stride, static_cast<std::int32_t>(type), host, 0, &made_) != 0) {
    made_ = nullptr;
  }
}

vector::~vector() {
  if (made_ != nullptr) delete_tensor.get()(made_);
}

}  // namespace memtrace::simulator::untouched
