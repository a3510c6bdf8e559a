// SPDX-License-Identifier: Apache-2.0
#include "interpose/autograd/python_nodes.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "interpose/autograd/class_name.h"
#include "interpose/autograd/tensor_layout.h"
#include "interpose/base/errno_keeper.h"
#include "interpose/python/interpreter.h"
#include "interpose/session/session.h"

namespace memtrace::autograd {
namespace {

std::atomic<context_reader> reader{nullptr};

// Types that were found to be ones: asking the kernel costs more than all else here.
constexpr std::size_t type_slots = 64;
std::array<std::atomic<std::uint64_t>, type_slots> known_types{};

bool is_known_type(std::uint64_t type, const readable_memory& memory) noexcept {
  std::atomic<std::uint64_t>& slot = known_types[type / 16 % type_slots];
  if (slot.load(std::memory_order_relaxed) == type) return true;
  if (!is_type(type, memory)) return false;
  slot.store(type, std::memory_order_relaxed);
  return true;
}

// A node that is about to run needs its object: PyTorch itself looks at it next. So what stands at
// this place of so many nodes, as the kernel copies it, stands there of every node of the class.
constexpr unsigned enough_copies = 32;
std::atomic<unsigned> good_copies{0};
std::atomic<bool> is_elsewhere{false};

struct object_head {
  std::uint64_t references;
  std::uint64_t type;
};
static_assert(offsetof(object_head, type) == python_stack::object::type);

// Objects that are gone have a count of 0 until their memory is used again.
bool is_there(const object_head& head) noexcept {
  return static_cast<std::uint32_t>(head.references) != 0 && head.type != 0;
}

// The type of the object of a node that is about to run, or 0.
std::uint64_t type_of(std::uint64_t object) noexcept {
  object_head head{};
  if (good_copies.load(std::memory_order_relaxed) >= enough_copies) {
    std::memcpy(&head, reinterpret_cast<const void*>(object), sizeof head);
    const auto known = known_types[head.type / 16 % type_slots].load(std::memory_order_relaxed);
    if (is_there(head) && known == head.type) return head.type;
  }
  const readable_memory memory;
  const bool is_one =
      memory.copy(object, &head, sizeof head) && is_there(head) && is_known_type(head.type, memory);
  if (is_one) {
    good_copies.fetch_add(1, std::memory_order_relaxed);
  } else {
    is_elsewhere.store(true, std::memory_order_relaxed);
  }
  return is_one ? head.type : 0;
}

}  // namespace

bool is_type(std::uint64_t type, const readable_memory& memory) noexcept {
  namespace offset = python_stack::object;
  const auto type_of_types =
      reinterpret_cast<std::uint64_t>(python_stack::find_symbol("PyType_Type"));
  const std::uint64_t own = memory.word(type + offset::type);
  return type_of_types != 0 && own != 0 &&
         (own == type_of_types || memory.word(own + offset::type) == type_of_types);
}

bool is_python_node(std::string_view class_name) noexcept {
  return class_name == "PyNode";
}

bool is_python_node(const void* node) noexcept {
  static std::atomic<const void*> python_node{nullptr};
  const void* const functions = functions_of(node);
  const void* const known = python_node.load(std::memory_order_relaxed);
  if (known != nullptr) return functions == known;
  if (!is_python_node(last_part(mangled_class(functions)))) return false;
  python_node.store(functions, std::memory_order_relaxed);
  return true;
}

// The object stands right behind what every node has, as an AccumulateGrad holds its tensor.
std::uint64_t type_of_context(const void* node, const readable_memory& memory) noexcept {
  const auto object = reinterpret_cast<std::uint64_t>(accumulated(node));
  return object == 0 ? 0 : memory.word(object + python_stack::object::type);
}

void read_contexts_with(context_reader now) noexcept {
  reader.store(now, std::memory_order_release);
}

void before_node(const void* node) {
  const context_reader read = reader.load(std::memory_order_acquire);
  if (read == nullptr || !is_confirmed() || !is_python_node(node)) return;
  if (is_elsewhere.load(std::memory_order_relaxed)) return;
  const errno_keeper errno_stays;
  recorder* const to = session::active();
  const auto object = reinterpret_cast<std::uint64_t>(accumulated(node));
  if (to == nullptr || object == 0) return;
  if (const std::uint64_t type = type_of(object); type != 0) read(*to, {object, type});
}

}  // namespace memtrace::autograd
