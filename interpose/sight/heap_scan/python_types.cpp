// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/python_types.h"

#include "interpose/ground/base/found_once.h"

namespace memtrace::heap_scan {

namespace {

// clang-format off
constexpr object_layout layouts[] = {
    {.minor = 9, .values = 0, .managed_dict = 0, .cached_keys = not_there,
     .generator_frame = 16, .generator_state = not_there, .frame_cleared = 4, .tuple_items = 24, .frozen = 80,
     .thread_exceptions = 144, .exception_value = 8, .exception_previous = 24,
     .thread_context = 240, .code_variable_count = not_there,
     .code_variables = 72, .code_free = 80, .code_cells = 88},
    {.minor = 10, .values = 0, .managed_dict = 0, .cached_keys = not_there,
     .generator_frame = 16, .generator_state = not_there, .frame_cleared = 4, .tuple_items = 24, .frozen = 80,
     .thread_exceptions = 144, .exception_value = 8, .exception_previous = 24,
     .thread_context = 240, .code_variable_count = not_there,
     .code_variables = 72, .code_free = 80, .code_cells = 88},
    {.minor = 11, .values = -32, .managed_dict = -24, .cached_keys = 872,
     .generator_frame = 80, .generator_state = 75, .frame_cleared = 4, .tuple_items = 24, .frozen = 80,
     .thread_exceptions = 120, .exception_value = 0, .exception_previous = 8,
     .thread_context = 224, .code_variable_count = 76,
     .code_variables = 96, .code_free = not_there, .code_cells = not_there},
    {.minor = 12, .values = -24, .managed_dict = -24, .cached_keys = 880,
     .generator_frame = 72, .generator_state = 67, .frame_cleared = 4, .tuple_items = 24, .frozen = 80,
     .thread_exceptions = 104, .exception_value = 0, .exception_previous = 8,
     .thread_context = 208, .code_variable_count = 72,
     .code_variables = 96, .code_free = not_there, .code_cells = not_there},
    {.minor = 13, .values = 0, .managed_dict = -24, .cached_keys = 880,
     .generator_frame = 72, .generator_state = 67, .frame_cleared = 4, .tuple_items = 24, .frozen = 80,
     .thread_exceptions = 120, .exception_value = 0, .exception_previous = 8,
     .thread_context = 208, .code_variable_count = 72,
     .code_variables = 96, .code_free = not_there, .code_cells = not_there},
    {.minor = 14, .values = 0, .managed_dict = -24, .cached_keys = 880,
     .generator_frame = 72, .generator_state = 67, .frame_cleared = 4, .tuple_items = 32, .frozen = 72,
     .thread_exceptions = 120, .exception_value = 0, .exception_previous = 8,
     .thread_context = 208, .code_variable_count = 72,
     .code_variables = 96, .code_free = not_there, .code_cells = not_there},
    {.minor = 15, .values = 0, .managed_dict = -24, .cached_keys = 888,
     .generator_frame = 72, .generator_state = 67, .frame_cleared = 5, .tuple_items = 32, .frozen = 72,
     .thread_exceptions = 144, .exception_value = 0, .exception_previous = 8,
     .thread_context = 232, .code_variable_count = 72,
     .code_variables = 96, .code_free = not_there, .code_cells = not_there},
};
// clang-format on

const object_layout* layout_of(unsigned minor) noexcept {
  for (const object_layout& known : layouts) {
    if (known.minor == minor) return &known;
  }
  return nullptr;
}

python_objects find() noexcept {
  python_objects found;
  bool complete = true;
#define MEMTRACE_FIND(member, name)                                           \
  found.member = reinterpret_cast<address>(python_stack::find_symbol(#name)); \
  complete = complete && found.member != 0;
  MEMTRACE_CENSUS_TYPES(MEMTRACE_FIND)
#undef MEMTRACE_FIND
#define MEMTRACE_FIND(member, name, result, parameters)                                  \
  found.get_##member = python_stack::find_function<decltype(found.get_##member)>(#name); \
  complete = complete && found.get_##member != nullptr;
  MEMTRACE_CENSUS_FUNCTIONS(MEMTRACE_FIND)
#undef MEMTRACE_FIND
  const python_stack::interpreter& interpreter = python_stack::this_interpreter();
  if (complete && interpreter.refusal == nullptr) {
    found.interpreter = &interpreter;
    found.layout = layout_of(interpreter.offsets->minor);
  }
  return found;
}

}  // namespace

const python_objects* find_python_objects() noexcept {
  static constinit found_once<python_objects, find> known;
  const python_objects& found = known.get();
  return found.layout == nullptr ? nullptr : &found;
}

std::string_view full_name_of_type(address type) noexcept {
  const auto* const name = load<const char*>(type, python_stack::object::type_name);
  return name == nullptr ? std::string_view{} : std::string_view(name);
}

std::string_view name_of_type(address type) noexcept {
  const std::string_view name = full_name_of_type(type);
  const std::size_t dot = name.rfind('.');
  return dot == std::string_view::npos ? name : name.substr(dot + 1);
}

address value_of_key(const python_objects& python, address dict, std::string_view key) noexcept {
  address found = 0;
  for_each_pair(python, dict, [&](address name, address value) {
    if (plain_text(python, name) == key) found = value;
    return found == 0;
  });
  return found;
}

std::string_view plain_text(const python_objects& python, address text) noexcept {
  if (text == 0 || !has_flag(text, type_flag::text)) return {};
  // Compact and ASCII: bits 5 and 6 of the state.
  constexpr std::uint32_t compact_ascii = 3u << 5;
  const auto state = load<std::uint32_t>(text, python_stack::object::text_state);
  if ((state & compact_ascii) != compact_ascii) return {};
  const auto length = load<std::int64_t>(text, python_stack::object::text_length);
  const auto* const characters =
      reinterpret_cast<const char*>(text + python.interpreter->offsets->text_ascii);
  return {characters, static_cast<std::size_t>(length > 0 ? length : 0)};
}

}  // namespace memtrace::heap_scan
