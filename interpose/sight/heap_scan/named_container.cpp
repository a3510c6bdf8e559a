// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/named_container.h"

#include "interpose/sight/heap_scan/frame_variables.h"
#include "interpose/sight/heap_scan/instance_values.h"
#include "interpose/sight/python/frame_walk.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::string_view of_function = "local of ";
constexpr std::string_view of_module = "global of ";
constexpr std::size_t cell_content = 16;
constexpr unsigned most_frames = 1000;

bool is_dict(address object) noexcept {
  return object != 0 && has_flag(object, type_flag::dict);
}

// As value_of_key(), from where it was last time on.
address value_in(const python_objects& python, address dict, std::string_view name,
                 std::ptrdiff_t& hint) noexcept {
  if (!is_dict(dict)) return 0;
  py key = nullptr;
  py value = nullptr;
  std::ptrdiff_t place = hint;
  if (python.get_dict_next(object_at(dict), &place, &key, &value) != 0 &&
      plain_text(python, address_of(key)) == name) {
    return address_of(value);
  }
  std::ptrdiff_t before = place = 0;
  for (; python.get_dict_next(object_at(dict), &place, &key, &value) != 0; before = place) {
    if (plain_text(python, address_of(key)) != name) continue;
    hint = before;
    return address_of(value);
  }
  return 0;
}

// Of an nn.Module the parts, too, which its __getattr__ finds.
address attribute_of(const python_objects& python, address object, named_part& part) noexcept {
  if (is_module(python, object)) {
    return value_in(python, address_of(python.get_dict_of_module(object_at(object))), part.name,
                    part.hint);
  }
  const address dict = instance_dict(python, object);
  const address own = dict == 0 ? instance_value(python, object, part.name)
                                : value_in(python, dict, part.name, part.hint);
  if (own != 0) return own;
  for (const char* const parts : {"_modules", "_buffers", "_parameters"}) {
    const address inside = instance_value(python, object, parts);
    if (const address found = value_in(python, inside, part.name, part.hint); found != 0) {
      return found;
    }
  }
  return 0;
}

// The innermost call of the function in this thread has it.
address local_of(const python_objects& python, const named_container& which) noexcept {
  const python_stack::layout& offsets = *python.interpreter->offsets;
  const std::string_view function = std::string_view(which.owner).substr(of_function.size());
  const address thread = python.interpreter->this_thread();
  address frame = thread == 0 ? 0 : python_stack::innermost_frame(offsets, thread);
  for (unsigned left = most_frames; frame != 0 && left > 0; --left) {
    const read_frame here = frame_at(python, frame);
    frame = python_stack::previous_frame(offsets, frame);
    if (here.frame == 0 || here.code != which.code) continue;
    // Another function's code may be where that one's was.
    const auto line = load<std::int32_t>(here.code, offsets.code_first_line);
    if (line < 0 || static_cast<std::uint32_t>(line) != which.line ||
        plain_text(python, load<address>(here.code, offsets.code_name)) != function) {
      return 0;
    }
    address found = 0;
    for_each_variable(python, here, [&](address name, address value) {
      if (plain_text(python, name) == which.variable) found = value;
      return found == 0;
    });
    const bool is_in_cell = found != 0 && type_of(found) == python.cell;
    return is_in_cell ? load<address>(found, cell_content) : found;
  }
  return 0;
}

address global_of(const python_objects& python, named_container& which) noexcept {
  const std::string_view name = std::string_view(which.owner).substr(of_module.size());
  const address modules = address_of(python.get_modules());
  const address module = value_in(python, modules, name, which.module_hint);
  if (!is_module(python, module)) return 0;
  const address dict = address_of(python.get_dict_of_module(object_at(module)));
  return value_in(python, dict, which.variable, which.variable_hint);
}

std::optional<std::uint64_t> length_of(const python_objects& python, address object) noexcept {
  const address type = type_of(object);
  std::size_t place = 0;
  constexpr unsigned long by_flag = type_flag::list | type_flag::tuple | type_flag::dict;
  if ((flags_of(type) & by_flag) != 0) {
    place = offset::item_count;
  } else if (type == python.set || type == python.frozen_set) {
    place = offset::set_count;
  } else if (const auto name = full_name_of_type(type);
             name == "collections.deque" || name == "bytearray") {
    if ((flags_of(type) & type_flag::heap_type) != 0) return std::nullopt;  // the program's own
    place = offset::item_count;
  } else {
    return std::nullopt;
  }
  const auto length = load<std::int64_t>(object, place);
  return length < 0 ? std::nullopt : std::optional(static_cast<std::uint64_t>(length));
}

}  // namespace

std::optional<std::string_view> first_place(std::string_view owner) noexcept {
  for (const std::string_view kind : {of_function, of_module}) {
    if (owner.starts_with(kind)) return owner.substr(kind.size());
  }
  return std::nullopt;
}

std::optional<std::uint64_t> length_now(const python_objects& python,
                                        named_container& which) noexcept {
  address at = which.code != 0 ? local_of(python, which) : global_of(python, which);
  for (named_part& part : which.parts) {
    if (at == 0) return std::nullopt;
    at = part.what == named_part::kind::key ? value_in(python, at, part.name, part.hint)
                                            : attribute_of(python, at, part);
  }
  return at == 0 ? std::nullopt : length_of(python, at);
}

}  // namespace memtrace::heap_scan
