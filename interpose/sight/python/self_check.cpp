// SPDX-License-Identifier: Apache-2.0
//
// Compares the stacks that we read with the interpreter's own answer: code object, instruction,
// file, function, line and depth of every frame, in the situations of self_check.py.
#include <string_view>

#include "interpose/ground/base/found_once.h"
#include "interpose/sight/python/frame_decoder.h"
#include "interpose/sight/python/interpreter.h"
#include "interpose/sight/python/python_api.h"

extern "C" const char memtrace_self_check_source[];

namespace memtrace::python_stack {

namespace {

// compare() is called by the interpreter, which hands it nothing of ours. Set with the GIL, once.
const interpreter* checked = nullptr;
const python_api* functions = nullptr;
text_arena texts;

bool same_text(py code, const char* attribute, std::string_view ours) {
  const python_api& api = *functions;
  const reference text(api, api.attribute(code, attribute));
  if (!text) return false;
  const reference encoded(api, api.encode(text.get(), "utf-8", "surrogateescape"));
  char* bytes = nullptr;
  std::ptrdiff_t size = 0;
  if (!encoded || api.bytes_of(encoded.get(), &bytes, &size) != 0) return false;
  return ours == std::string_view(bytes, static_cast<std::size_t>(size));
}

bool same_frame(frame_key ours, frame_place place, py frame) {
  const python_api& api = *functions;
  const reference code(api, api.frame_code(frame));
  const reference last(api, api.attribute(frame, "f_lasti"));
  if (!code || !last || ours.code() != reinterpret_cast<address>(code.get())) return false;
  const int instruction = static_cast<int>(api.as_long(last.get()));
  if (instruction_offset(*checked->offsets, ours) != instruction) return false;
  const int line = api.line_of(code.get(), instruction);
  if (static_cast<int>(place.line) != (line > 0 ? line : 0)) return false;
  texts.clear();
  const stack_frame decoded = decode(*checked, ours, place.line, texts);
  return same_text(code.get(), "co_filename", decoded.file) &&
         same_text(code.get(), "co_name", decoded.function);
}

bool same_stack() {
  const python_api& api = *functions;
  const layout& offsets = *checked->offsets;
  py innermost = api.frame();
  if (innermost != nullptr) api.inc_ref(innermost);
  reference theirs(api, innermost);
  address ours = innermost_frame(offsets, checked->this_thread());
  for (; ours != 0; ours = previous_frame(offsets, ours)) {
    const frame_key key = read_frame(offsets, ours);
    const frame_place place = place_of(*checked, key);
    if (place.kind == frame_kind::hidden) continue;
    if (place.kind == frame_kind::not_code || !theirs) return false;
    if (!same_frame(key, place, theirs.get())) return false;
    theirs.reset(api.frame_back(theirs.get()));
  }
  return !theirs;
}

py compare(py, py) {
  const bool same = same_stack();
  functions->clear_error();
  return functions->new_bool(same ? 1 : 0);
}

method_definition compare_definition = {"compare", {compare}, method_without_arguments, nullptr};

// The function `check` of self_check.py, in globals of its own; borrowed from `globals`.
py load_check(const python_api& api, py globals) {
  static constexpr char file[] = "<memtrace: self_check.py>";
  const reference name(api, api.new_text(file));
  const reference code(api, api.compile(memtrace_self_check_source, file, file_input));
  if (!name || !code) return nullptr;
  if (api.set_item(globals, "__builtins__", api.builtins()) != 0) return nullptr;
  if (api.set_item(globals, "__file__", name.get()) != 0) return nullptr;
  const reference result(api, api.evaluate(code.get(), globals, globals));
  return result ? api.get_item(globals, "check") : nullptr;
}

}  // namespace

verdict check_against_interpreter(const interpreter& python) {
  static constinit found_once<python_api, find_python_api> found;
  const python_api& api = found.get();
  if (!api.complete) return verdict::differs;
  if (is_observed(api)) return verdict::not_run;
  checked = &python;
  functions = &api;
  const reference globals(api, api.new_dict());
  const py check = globals ? load_check(api, globals.get()) : nullptr;
  const reference function(api, api.new_function(&compare_definition, nullptr, nullptr));
  if (check == nullptr || !function) {
    api.clear_error();
    return verdict::not_run;
  }
  const reference result(api, api.call(check, function.get(), nullptr));
  if (!result) return verdict::not_run_and_raised;
  return api.is_true(result.get()) == 1 ? verdict::agrees : verdict::differs;
}

}  // namespace memtrace::python_stack
