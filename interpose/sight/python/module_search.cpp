// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/python/module_search.h"

#include "interpose/sight/python/frame_walk.h"
#include "interpose/sight/python/interpreter.h"

namespace memtrace::python_stack {

namespace {

// The outermost possible frame is far nearer than this.
constexpr unsigned most_frames = 1'000'000;

// The innermost frame of any thread that `is_it` accepts, or 0.
template <typename Predicate>
address find_frame(const python_api& api, Predicate is_it) noexcept {
  const layout& offsets = *this_interpreter().offsets;
  void* thread = api.first_thread(api.main_interpreter());
  for (; thread != nullptr; thread = api.next_thread(thread)) {
    address frame = innermost_frame(offsets, reinterpret_cast<address>(thread));
    for (unsigned left = most_frames; frame != 0 && left > 0; --left) {
      if (is_it(frame)) return frame;
      frame = previous_frame(offsets, frame);
    }
  }
  return 0;
}

address code_of(address frame) noexcept {
  return load_code(frame, this_interpreter().offsets->frame_code);
}

}  // namespace

py find_running_module(const python_api& api, address module) noexcept {
  const module_call watched = watched_module_call();
  if (watched.code() == 0 || module == 0) return nullptr;
  const layout& offsets = *this_interpreter().offsets;
  const address frame = find_frame(api, [&](address candidate) {
    return code_of(candidate) == watched.code() && watched.module_of(offsets, candidate) == module;
  });
  if (frame == 0) return nullptr;
  const auto object = reinterpret_cast<py>(module);
  api.inc_ref(object);
  return object;
}

bool is_running(const python_api& api, address code) noexcept {
  return find_frame(api, [&](address frame) { return code_of(frame) == code; }) != 0;
}

address self_of_this_function(module_call call) noexcept {
  const interpreter& python = this_interpreter();
  const address frame = innermost_frame(*python.offsets, python.this_thread());
  return frame == 0 ? 0 : call.module_of(*python.offsets, frame);
}

}  // namespace memtrace::python_stack
