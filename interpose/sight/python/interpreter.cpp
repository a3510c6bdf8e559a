// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/interpreter.h"

#include <dlfcn.h>

#include <cstdio>
#include <cstring>

#include "interpose/ground/base/found_once.h"

namespace memtrace::python_stack {

namespace {

bool published_offsets_agree(const std::uint64_t* words, const layout& ours) noexcept {
  const published_words& at = *ours.published;
  return words[at.thread_frame] == ours.thread_frame &&
         words[at.frame_previous] == ours.frame_previous &&
         words[at.frame_code] == ours.frame_code &&
         words[at.frame_instruction] == ours.frame_instruction &&
         words[at.frame_owner] == ours.frame_owner && words[at.code_file] == ours.code_file &&
         words[at.code_name] == ours.code_name && words[at.code_lines] == ours.code_lines &&
         words[at.code_first_line] == ours.code_first_line &&
         words[at.code_instructions] == ours.code_instructions;
}

const char* refuse_by_published_offsets(const layout& ours) noexcept {
  if (ours.published == nullptr) return nullptr;
  constexpr unsigned is_free_threaded = 2;
  const auto* words = static_cast<const std::uint64_t*>(find_symbol("_PyRuntime"));
  if (words == nullptr || std::memcmp(words, "xdebugpy", 8) != 0) {
    return "this Python does not publish its offsets";
  }
  if (words[is_free_threaded] != 0) return "free-threaded Python is not supported";
  if (!published_offsets_agree(words, ours)) return "this Python's objects have another layout";
  return nullptr;
}

// Builds with other object headers (Py_TRACE_REFS) keep the type elsewhere.
bool is_type_named(address type, address type_of_types, const char* name) noexcept {
  return type != 0 && load<address>(type, object::type) == type_of_types &&
         std::strcmp(load<const char*>(type, object::type_name), name) == 0;
}

const char* refuse(const interpreter& python, const char* full_version) noexcept {
  if (python.offsets == nullptr) return "only Python " MEMTRACE_PYTHONS " is supported";
  if (std::strstr(full_version, "free-threading") != nullptr) {
    return "free-threaded Python is not supported";
  }
  const auto type_of_types = reinterpret_cast<address>(find_symbol("PyType_Type"));
  if (python.this_thread == nullptr || !is_type_named(python.code_type, type_of_types, "code") ||
      !is_type_named(python.text_type, type_of_types, "str") ||
      !is_type_named(python.bytes_type, type_of_types, "bytes")) {
    return "this Python's objects have another layout";
  }
  return refuse_by_published_offsets(*python.offsets);
}

}  // namespace

void* find_symbol(const char* name) noexcept {
  return dlsym(RTLD_DEFAULT, name);
}

interpreter find_interpreter() noexcept {
  interpreter python;
  const auto get_version = find_function<const char* (*)()>("Py_GetVersion");
  const auto is_initialized = find_function<int (*)()>("Py_IsInitialized");
  if (get_version == nullptr || is_initialized == nullptr) {
    python.refusal = "no Python in this process";
    return python;
  }
  python.is_initialized = is_initialized;
#define MEMTRACE_FIND(member, name) python.member = find_function<decltype(python.member)>(#name);
  MEMTRACE_FIND(add_pending_call, Py_AddPendingCall)
  MEMTRACE_FIND(ensure_gil, PyGILState_Ensure)
  MEMTRACE_FIND(release_gil, PyGILState_Release)
  MEMTRACE_FIND(check_gil, PyGILState_Check)
  MEMTRACE_FIND(current, PyInterpreterState_Get)
  MEMTRACE_FIND(main, PyInterpreterState_Main)
  MEMTRACE_FIND(this_thread, PyGILState_GetThisThreadState)
#undef MEMTRACE_FIND
  const char* const full_version = get_version();  // "3.11.7 (main, …) [GCC …]"
  const std::size_t length = std::strcspn(full_version, " ");
  std::snprintf(python.version, sizeof(python.version), "%.*s", static_cast<int>(length),
                full_version);
  unsigned major = 0, minor = 0;
  if (std::sscanf(full_version, "%u.%u", &major, &minor) == 2) {
    python.offsets = layout_of(major, minor);
  }
  python.code_type = reinterpret_cast<address>(find_symbol("PyCode_Type"));
  python.text_type = reinterpret_cast<address>(find_symbol("PyUnicode_Type"));
  python.bytes_type = reinterpret_cast<address>(find_symbol("PyBytes_Type"));
  python.refusal = refuse(python, full_version);
  return python;
}

const interpreter& this_interpreter() noexcept {
  static constinit found_once<interpreter, find_interpreter> found;
  return found.get();
}

}  // namespace memtrace::python_stack
