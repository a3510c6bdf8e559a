// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/roots.h"

#include <algorithm>

#include "interpose/sight/heap_scan/collector_lists.h"
#include "interpose/sight/python/frame_walk.h"
#include "interpose/sight/python/text.h"

namespace memtrace::heap_scan {

namespace {

constexpr unsigned most_frames = 100'000;
constexpr unsigned most_exceptions = 1000;
constexpr std::string_view main_name = "__main__";

std::string_view text_of(const python_objects& python, address text,
                         python_stack::text_arena& arena) noexcept {
  arena.clear();
  if (text == 0 || !has_flag(text, type_flag::text)) return {};
  return python_stack::read_text(*python.interpreter->offsets, text, arena);
}

bool is_exception(address object) noexcept {
  return object != 0 && has_flag(object, type_flag::exception);
}

}  // namespace

user_code::user_code(const python_objects& python, address modules) {
  const address os = value_of_key(python, modules, "os");
  if (!is_module(python, os)) return;  // whatever the program put there: asking it would raise
  const py dict = python.get_dict_of_module(object_at(os));
  if (dict == nullptr) return;
  const std::string_view file =
      plain_text(python, value_of_key(python, address_of(dict), "__file__"));
  standard_library_ = file.substr(0, file.rfind('/') + 1);
}

bool user_code::is_users(std::string_view file) const noexcept {
  for (const std::string_view part : {"/site-packages/", "/dist-packages/"}) {
    if (file.find(part) != std::string_view::npos) return false;
  }
  if (file.empty() || file.starts_with("<frozen ") || file.starts_with("<memtrace: ")) return false;
  return standard_library_.empty() || !file.starts_with(standard_library_);
}

root_finder::root_finder(const python_objects& python, const user_code& users, address modules,
                         deadline& until)
    : python_(python), users_(users), modules_(modules), until_(until), running_(find_running()) {}

std::vector<address> root_finder::threads() const {
  std::vector<address> found;
  void* thread = python_.get_first_thread(python_.get_main_interpreter());
  for (; thread != nullptr; thread = python_.get_next_thread(thread)) {
    found.push_back(reinterpret_cast<address>(thread));
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<read_frame> root_finder::find_running() const {
  const python_stack::layout& offsets = *python_.interpreter->offsets;
  std::vector<read_frame> found;
  for (const address thread : threads()) {
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    address frame = python_stack::innermost_frame(offsets, thread);
    for (unsigned left = most_frames; frame != 0 && left > 0 && !until_.is_over(); --left) {
      const read_frame here = frame_at(python_, frame);
      if (here.frame != 0) found.push_back(here);
      frame = python_stack::previous_frame(offsets, frame);
    }
    std::reverse(found.begin() + first, found.end());
  }
  return found;
}

bool root_finder::is_users(const read_frame& frame) const {
  python_stack::text_arena arena;
  const auto file = load<address>(frame.code, python_.interpreter->offsets->code_file);
  return users_.is_users(text_of(python_, file, arena));
}

std::vector<root_group> root_finder::frames(bool of_users) const {
  std::vector<root_group> found;
  for (const read_frame& frame : running_) {
    if (until_.is_over()) break;
    if (is_users(frame) != of_users) continue;
    root_group group;
    for_each_variable(python_, frame, [&](address name, address value) {
      group.push_back({root::origin::local, value, name, frame.code, 0});
      return true;
    });
    if (!group.empty()) found.push_back(std::move(group));
  }
  return found;
}

root_group root_finder::exceptions() const {
  const object_layout& layout = *python_.layout;
  root_group found;
  const auto add = [&](address object) {
    if (is_exception(object)) found.push_back({root::origin::exception, object, 0, 0, 0});
  };
  for (const address thread : threads()) {
    auto item = load<address>(thread, layout.thread_exceptions);
    for (unsigned left = most_exceptions; item != 0 && left > 0; --left) {
      add(load<address>(item, layout.exception_value));
      item = load<address>(item, layout.exception_previous);
    }
  }
  const address system = value_of_key(python_, modules_, "sys");
  if (is_module(python_, system)) {
    const address dict = address_of(python_.get_dict_of_module(object_at(system)));
    add(value_of_key(python_, dict, "last_value"));
  }
  return found;
}

root root_finder::root_of_module(address name, address module) const {
  if (!is_module(python_, module)) return {};
  const address dict = address_of(python_.get_dict_of_module(object_at(module)));
  if (dict == 0) return {};
  return {root::origin::globals, dict, name, 0, value_of_key(python_, dict, "__file__")};
}

root_group root_finder::main_module() const {
  root_group found;
  for_each_pair(python_, modules_, [&](address name, address module) {
    if (plain_text(python_, name) == main_name) found.push_back(root_of_module(name, module));
    return found.empty();
  });
  return found;
}

root_group root_finder::modules(bool of_users) const {
  python_stack::text_arena arena;
  root_group found;
  for_each_pair(python_, modules_, [&](address name, address module) {
    const root entry = root_of_module(name, module);
    if (entry.object == 0 || plain_text(python_, name) == main_name) return true;
    if (users_.is_users(text_of(python_, entry.file, arena)) == of_users) found.push_back(entry);
    return true;
  });
  return found;
}

root_group root_finder::contexts() const {
  root_group found;
  for (const address thread : threads()) {
    const auto context = load<address>(thread, python_.layout->thread_context);
    if (context != 0) found.push_back({root::origin::context, context, 0, 0, 0});
  }
  return found;
}

root_group root_finder::suspended() const {
  root_group found;
  collector_lists(*python_.layout).for_each([&](address object) {
    if (until_.is_over()) return false;
    const address type = type_of(object);
    if (type != python_.generator && type != python_.coroutine && type != python_.async_generator) {
      return true;
    }
    const read_frame frame = frame_of_generator(python_, object);
    if (frame.frame != 0 && is_users(frame)) {
      found.push_back({root::origin::suspended, object, 0, 0, 0});
    }
    return true;
  });
  return found;
}

}  // namespace memtrace::heap_scan
