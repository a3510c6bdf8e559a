// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/autograd/python_nodes.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstring>

#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/autograd/class_name.h"
#include "interpose/sight/autograd/tensor_layout.h"
#include "interpose/sight/python/interpreter.h"

namespace memtrace::autograd {
namespace {

namespace object = python_stack::object;

constexpr std::string_view base_class = "torch._C._FunctionBase";
constexpr unsigned most_bases = 64;
constexpr std::size_t base_offset = 256;  // tp_base, in every version

std::atomic<context_reader> reader{nullptr};

// Bytes from a node's begin; 0: not known yet.
std::atomic<std::size_t> place{0};
// Nodes that had a context there, as the kernel copied it. After so many a node that is about to
// run is believed to have one, and loads do.
constexpr unsigned enough_copies = 32;
std::atomic<unsigned> good_copies{0};
// Nodes that had none; after so many none is looked at again.
constexpr unsigned too_many_failures = 8;
std::atomic<unsigned> failures{0};

// Classes of Functions: asking the kernel costs more than all else here.
constexpr std::size_t class_slots = 64;
std::array<std::atomic<std::uint64_t>, class_slots> known_classes{};

std::atomic<std::uint64_t>& slot_of(std::uint64_t type) noexcept {
  return known_classes[type / 16 % class_slots];
}

// Its own type is Python's `type`, or a class made from that.
bool is_type(std::uint64_t type, const readable_memory& memory) noexcept {
  const auto type_of_types =
      reinterpret_cast<std::uint64_t>(python_stack::find_symbol("PyType_Type"));
  const std::uint64_t own = memory.word(type + object::type);
  return type_of_types != 0 && own != 0 &&
         (own == type_of_types || memory.word(own + object::type) == type_of_types);
}

bool is_base_class(std::uint64_t type, const readable_memory& memory) noexcept {
  char name[base_class.size() + 1] = {};
  return memory.copy(memory.word(type + object::type_name), name, sizeof name) &&
         name == base_class;
}

bool is_function_class(std::uint64_t type, const readable_memory& memory) noexcept {
  if (slot_of(type).load(std::memory_order_relaxed) == type) return true;
  if (!is_type(type, memory)) return false;
  std::uint64_t base = type;
  for (unsigned i = 0; base != 0 && i < most_bases; ++i) {
    if (is_base_class(base, memory)) {
      slot_of(type).store(type, std::memory_order_relaxed);
      return true;
    }
    base = memory.word(base + base_offset);
  }
  return false;
}

struct object_head {
  std::uint64_t references;
  std::uint64_t type;
};
static_assert(offsetof(object_head, type) == object::type);

// Objects that are gone have a count of 0 until their memory is used again.
bool is_there(const object_head& head) noexcept {
  return static_cast<std::uint32_t>(head.references) != 0 && head.type != 0;
}

std::uint64_t class_of(std::uint64_t context, const readable_memory& memory) noexcept {
  object_head head{};
  if (context % sizeof(std::uint64_t) != 0 || !memory.copy(context, &head, sizeof head)) return 0;
  return is_there(head) && is_function_class(head.type, memory) ? head.type : 0;
}

// The word of a node that is a context.
std::size_t find_place(const void* node, const readable_memory& memory) noexcept {
  for (std::size_t at = bytes_of_any_node(); at > 0; at -= sizeof(std::uint64_t)) {
    std::uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(node) + at, sizeof word);
    if (word != 0 && class_of(word, memory) != 0) return at;
  }
  return 0;
}

// The context of a node that is about to run, or 0.
std::uint64_t context_of_next(const void* node) noexcept {
  if (failures.load(std::memory_order_relaxed) >= too_many_failures) return 0;
  if (good_copies.load(std::memory_order_relaxed) >= enough_copies) {
    const std::uint64_t context = context_in(node);
    object_head head{};
    if (context == 0) return 0;
    std::memcpy(&head, reinterpret_cast<const void*>(context), sizeof head);
    if (!is_there(head)) return 0;
    if (slot_of(head.type).load(std::memory_order_relaxed) == head.type) return context;
  }
  const readable_memory memory;
  if (place.load(std::memory_order_relaxed) == 0) {
    place.store(find_place(node, memory), std::memory_order_relaxed);
  }
  const bool has_one = class_of_context(node, memory) != 0;
  (has_one ? good_copies : failures).fetch_add(1, std::memory_order_relaxed);
  return has_one ? context_in(node) : 0;
}

// By its functions, of which all such nodes have the same.
bool is_known_python_node(const void* node) noexcept {
  static constinit std::atomic<const void*> functions_of_all{nullptr};
  const void* const functions = functions_of(node);
  const void* const known = functions_of_all.load(std::memory_order_relaxed);
  if (known != nullptr) return functions == known;
  if (!is_python_node(last_part(mangled_class(functions)))) return false;
  functions_of_all.store(functions, std::memory_order_relaxed);
  return true;
}

}  // namespace

bool is_python_node(std::string_view class_name) noexcept {
  return class_name == "PyNode";
}

std::uint64_t context_in(const void* node) noexcept {
  const std::size_t learnt = place.load(std::memory_order_relaxed);
  const std::size_t at = learnt != 0 ? learnt : bytes_of_any_node();
  std::uint64_t context = 0;
  std::memcpy(&context, static_cast<const char*>(node) + at, sizeof context);
  return context;
}

std::uint64_t class_of_context(const void* node, const readable_memory& memory) noexcept {
  const std::uint64_t context = context_in(node);
  return context == 0 ? 0 : class_of(context, memory);
}

void read_contexts_with(context_reader now) noexcept {
  reader.store(now, std::memory_order_release);
}

void before_node(const void* node) {
  if (!is_confirmed() || !is_known_python_node(node)) return;
  const errno_keeper errno_stays;
  const std::uint64_t context = context_of_next(node);
  recorder* const to = session::active();
  const context_reader read = reader.load(std::memory_order_acquire);
  if (context != 0 && to != nullptr && read != nullptr) read(*to, context);
}

}  // namespace memtrace::autograd
