// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/object_check.h"

#include <span>
#include <utility>

#include "interpose/sight/autograd/readable_memory.h"
#include "interpose/sight/heap_scan/collector_lists.h"
#include "interpose/sight/heap_scan/container_facts.h"
#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/instance_values.h"
#include "interpose/sight/python/python_values.h"

extern "C" const char memtrace_object_check_source[];

namespace memtrace::heap_scan {

namespace {

using python_stack::method_definition;
using python_stack::python_api;
using python_stack::reference;

constexpr std::size_t word_bytes = sizeof(address);
constexpr std::size_t most_variables = 64;

// The arguments of a call of same(), behind the name of the kind.
class known_object {
 public:
  known_object(const python_objects& python, const autograd::readable_memory& memory,
               std::span<const py> arguments) noexcept
      : python_(python), layout_(*python.layout), memory_(memory), arguments_(arguments) {}

  [[nodiscard]] bool is_same(std::string_view kind) const;

 private:
  [[nodiscard]] address at(std::size_t number) const noexcept {
    return number < arguments_.size() ? address_of(arguments_[number]) : 0;
  }
  [[nodiscard]] address word(address object, std::ptrdiff_t place) const noexcept {
    return memory_.word(object + static_cast<address>(place));
  }
  [[nodiscard]] long number(std::size_t which) const {
    return python_stack::python_functions().as_long(arguments_[which]);
  }
  [[nodiscard]] bool has_number(std::ptrdiff_t place, std::size_t which) const {
    return static_cast<long>(word(at(0), place)) == number(which);
  }
  [[nodiscard]] bool is_text(address text, std::size_t which) const {
    return text == at(which) &&
           plain_text(python_, text) == python_stack::text_of(arguments_[which]);
  }

  [[nodiscard]] bool container(kind what) const;
  [[nodiscard]] bool lru_cache() const;
  [[nodiscard]] bool type() const;
  [[nodiscard]] bool attributes() const;
  [[nodiscard]] bool dictionary() const;
  [[nodiscard]] bool slots() const;
  [[nodiscard]] bool generator() const;
  [[nodiscard]] bool finished() const;
  [[nodiscard]] bool code() const;
  [[nodiscard]] bool variables() const;
  [[nodiscard]] bool exceptions() const;
  [[nodiscard]] bool context() const;
  [[nodiscard]] bool collector() const;

  const python_objects& python_;
  const object_layout& layout_;
  const autograd::readable_memory& memory_;
  const std::span<const py> arguments_;
};

// object, length, bound or an item
bool known_object::container(kind what) const {
  const std::ptrdiff_t length = what == kind::set ? offset::set_count : offset::item_count;
  if (!has_number(length, 1)) return false;
  switch (what) {
    case kind::tuple:
      return word(at(0), layout_.tuple_items) == at(2) && has_flag(at(0), type_flag::tuple);
    case kind::dict:
      return value_of_key(python_, at(0), "first") == at(2) && has_flag(at(0), type_flag::dict);
    case kind::deque:
      return has_number(offset::deque_bound, 2);
    case kind::list:
      return has_flag(at(0), type_flag::list);
    default:
      return true;
  }
}

// function, entries, bound
bool known_object::lru_cache() const {
  const address cache = word(at(0), offset::lru_cache);
  return word(cache, python_stack::object::type) == python_.dict &&
         static_cast<long>(word(cache, offset::item_count)) == number(1) &&
         has_number(offset::lru_bound, 2);
}

// class, its base, size, place of its dictionary, flags
bool known_object::type() const {
  constexpr int slot_traverse = 71, slot_members = 72;
  const auto slot = python_stack::find_function<void* (*)(py, int)>("PyType_GetSlot");
  if (slot == nullptr) return false;
  const auto is_in = [&](int number, std::ptrdiff_t place) {
    return reinterpret_cast<address>(slot(object_at(at(0)), number)) == word(at(0), place);
  };
  return word(at(0), offset::base) == at(1) && has_number(offset::basic_size, 2) &&
         has_number(offset::dict_offset, 3) &&
         static_cast<unsigned long>(number(4)) == flags_of(at(0)) &&
         is_in(slot_traverse, offset::traverse) && is_in(slot_members, offset::members) &&
         has_flag(at(0), type_flag::type);
}

// instance, name, value, name, value
bool known_object::attributes() const {
  if (layout_.minor < 11) {
    return value_of_key(python_, instance_dict(python_, at(0)), "second") == at(4);
  }
  std::uint64_t keys[8];  // its beginning
  if (!memory_.copy(word(type_of(at(0)), layout_.cached_keys), keys, sizeof keys)) return false;
  const detail::value_array array = detail::inline_values(python_, at(0));
  if (instance_dict(python_, at(0)) != 0 || array.count < 2 || array.count > most_variables) {
    return false;
  }
  for (std::size_t i = 0; i < 2; ++i) {
    const auto place = static_cast<std::ptrdiff_t>(i * word_bytes);
    if (word(array.values, place) != at(2 + 2 * i)) return false;
    if (!is_text(word(array.names, 2 * place), 1 + 2 * i)) return false;
  }
  return true;
}

// instance, its dictionary, two values
bool known_object::dictionary() const {
  if (instance_dict(python_, at(0)) != at(1)) return false;
  return value_of_key(python_, at(1), "first") == at(2) &&
         value_of_key(python_, at(1), "second") == at(3);
}

// instance, two values
bool known_object::slots() const {
  return member_holding(at(0), at(1)) == "first" && member_holding(at(0), at(2)) == "second" &&
         instance_dict(python_, at(0)) == 0;
}

// generator, frame, code
bool known_object::generator() const {
  const std::ptrdiff_t code = python_.interpreter->offsets->frame_code;
  using python_stack::referred_to;
  if (layout_.minor < 11) return word(at(0), layout_.generator_frame) == at(1);
  return referred_to(word(at(0), layout_.generator_frame + code)) == at(2) &&
         referred_to(word(word(at(1), offset::frame_of_object), code)) == at(2) &&
         frame_of_generator(python_, at(0)).frame != 0;
}

bool known_object::finished() const {
  return frame_of_generator(python_, at(0)).frame == 0;
}

// code, count of variables, name of the first; names of locals, cells, free variables
bool known_object::code() const {
  const address names = word(at(0), layout_.code_variables);
  if (word(names, python_stack::object::type) != python_.tuple) return false;
  if (!is_text(word(names, layout_.tuple_items), 2)) return false;
  if (layout_.code_variable_count == not_there) {
    return names == at(3) && word(at(0), layout_.code_cells) == at(4) &&
           word(at(0), layout_.code_free) == at(5);
  }
  const auto count = static_cast<std::int32_t>(word(at(0), layout_.code_variable_count));
  return count == number(1) && static_cast<long>(word(names, offset::item_count)) == count;
}

// generator, frame, name, value, name of a cell, the only item of what is in it
bool known_object::variables() const {
  for (const read_frame& frame :
       {frame_of_generator(python_, at(0)), frame_of_object(python_, at(1))}) {
    int found = 0;
    for_each_variable(python_, frame, [&](address name, address value) {
      if (is_text(name, 2) && value == at(3)) ++found;
      if (!is_text(name, 4) || type_of(value) != python_.cell) return true;
      const address content = word(value, python_stack::object::cell_content);
      if (word(content, python_stack::object::type) == python_.list) ++found;
      return true;
    });
    if (found != 2) return false;
  }
  return true;
}

// what is being handled, and outside of that
bool known_object::exceptions() const {
  const address thread = python_.interpreter->this_thread();
  const address item = word(thread, layout_.thread_exceptions);
  const address outer = word(item, layout_.exception_previous);
  return word(item, layout_.exception_value) == at(0) &&
         word(outer, layout_.exception_value) == at(1) && has_flag(at(0), type_flag::exception);
}

// One of our own is entered for a moment.
bool known_object::context() const {
  using python_stack::find_function;
  const auto make = find_function<py (*)()>("PyContext_New");
  const auto enter = find_function<int (*)(py)>("PyContext_Enter");
  const auto leave = find_function<int (*)(py)>("PyContext_Exit");
  if (make == nullptr || enter == nullptr || leave == nullptr) return false;
  const reference made(python_stack::python_functions(), make());
  if (!made || enter(made.get()) != 0) return false;
  const address thread = python_.interpreter->this_thread();
  const bool same = word(thread, layout_.thread_context) == address_of(made.get());
  return leave(made.get()) == 0 && same;
}

bool known_object::collector() const {
  const auto make = python_stack::find_function<py (*)(std::ptrdiff_t)>("PyList_New");
  if (make == nullptr) return false;
  const reference newest(python_stack::python_functions(), make(0));
  return newest && collector_lists::learn(memory_, layout_, address_of(newest.get()));
}

bool known_object::is_same(std::string_view kind) const {
  if (kind == "list") return container(kind::list);
  if (kind == "tuple") return container(kind::tuple);
  if (kind == "dict") return container(kind::dict);
  if (kind == "set") return container(kind::set);
  if (kind == "deque") return container(kind::deque);
  if (kind == "lru_cache") return lru_cache();
  if (kind == "type") return type();
  if (kind == "attributes") return attributes();
  if (kind == "dictionary") return dictionary();
  if (kind == "slots") return slots();
  if (kind == "generator") return generator();
  if (kind == "finished") return finished();
  if (kind == "code") return code();
  if (kind == "variables") return variables();
  if (kind == "exceptions") return exceptions();
  if (kind == "context") return context();
  if (kind == "collector") return collector();
  return false;
}

// same() is called by the interpreter, which hands it nothing of ours. Set with the GIL.
const python_objects* checked = nullptr;
bool all_agree = false;

py same(py, const py* arguments, std::ptrdiff_t count) {
  const autograd::readable_memory memory;
  bool agrees = false;
  if (count >= 2) {
    const known_object known(*checked, memory,
                             {arguments + 1, static_cast<std::size_t>(count) - 1});
    agrees = known.is_same(python_stack::text_of(arguments[0]));
  }
  all_agree = all_agree && agrees;
  python_stack::python_functions().clear_error();
  return python_stack::python_functions().new_bool(agrees ? 1 : 0);
}

method_definition same_definition = {
    "same", {.call_fast = same}, python_stack::method_fast, nullptr};

// The function `check`, in globals of its own; borrowed from `globals`.
py load_check(const python_api& api, py globals) {
  static constexpr char file[] = "<memtrace: object_check.py>";
  const reference code(api,
                       api.compile(memtrace_object_check_source, file, python_stack::file_input));
  if (!code || api.set_item(globals, "__builtins__", api.builtins()) != 0) return nullptr;
  const reference result(api, api.evaluate(code.get(), globals, globals));
  return result ? api.get_item(globals, "check") : nullptr;
}

}  // namespace

object_verdict check_objects(const python_objects& python, py leave) {
  if (!python_stack::find_python_functions()) return object_verdict::differs;
  const python_api& api = python_stack::python_functions();
  checked = &python;
  all_agree = true;
  const reference globals(api, api.new_dict());
  const py check = globals ? load_check(api, globals.get()) : nullptr;
  const reference function(api, api.new_function(&same_definition, nullptr, nullptr));
  const py modules = api.system_object("modules");
  if (check == nullptr || !function || modules == nullptr) {
    api.clear_error();
    return object_verdict::differs;
  }
  const reference result(api, api.call(check, function.get(), modules, leave, nullptr));
  if (!result) return object_verdict::raised;
  return api.is_true(result.get()) == 1 && all_agree ? object_verdict::agrees
                                                     : object_verdict::differs;
}

}  // namespace memtrace::heap_scan
