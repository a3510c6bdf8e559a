// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/bridge.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <exception>
#include <string>
#include <unordered_map>
#include <vector>

#include "interpose/ground/base/settings.h"
#include "interpose/ground/recorder/recorder.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/heap_scan_moments.h"
#include "interpose/sight/agent/root_watch.h"
#include "interpose/sight/agent/short_names.h"
#include "interpose/sight/agent/storage_batch.h"
#include "interpose/sight/agent/tensor_names.h"
#include "interpose/sight/heap_scan/object_check.h"
#include "interpose/sight/python/module_search.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::agent {

namespace {

// Writes what compiled_code.py found out of a file of generated code into the trace. Needs the GIL.

constexpr std::ptrdiff_t row_width = 5;
constexpr std::ptrdiff_t frame_width = 3;

std::uint64_t address_in(py object) {
  const unsigned long long word = python_functions().as_word(object);
  if (word != ~0ull) return word;
  python_functions().clear_error();
  return 0;
}

std::uint32_t number_in(py object) {
  return static_cast<std::uint32_t>(address_in(object));
}

stack_id stack_of(recorder& to, py frames) {
  const python_api& api = python_functions();
  if (!is_tuple(frames)) return 0;
  std::vector<stack_frame> innermost_first;
  for (std::ptrdiff_t i = 0; i + frame_width <= api.tuple_size(frames); i += frame_width) {
    innermost_first.push_back({text_of(api.tuple_item(frames, i)),
                               text_of(api.tuple_item(frames, i + 2)),
                               number_in(api.tuple_item(frames, i + 1))});
  }
  std::reverse(innermost_first.begin(), innermost_first.end());
  return innermost_first.empty() ? 0 : to.intern(innermost_first);
}

// `rows`: a list of line, flags (format::generated_further), frames, address of the module (0: that
// of the owner), operator, and again; frames: a tuple of file, line, function, …, outermost first.
// `owner`: address of the module whose forward was compiled; 0: not known.
void record_generated(recorder& to, std::string_view file, std::uint64_t owner, std::uint32_t flags,
                      py rows) {
  const python_api& api = python_functions();
  if (!is_list(rows)) return;
  const std::uint32_t file_id = to.text_id(file);
  const std::uint32_t owner_id = to.object_id(owner);
  std::unordered_map<py, stack_id> known;  // many rows share a tuple of frames
  for (std::ptrdiff_t i = 0; i + row_width <= api.list_size(rows); i += row_width) {
    const py frames = api.list_item(rows, i + 2);
    const auto [stack, is_new] = known.try_emplace(frames, 0);
    if (is_new) stack->second = stack_of(to, frames);
    if (stack->second == 0) continue;
    const std::string_view operators = text_of(api.list_item(rows, i + 4));
    to.generated({.file = file_id,
                  .line = number_in(api.list_item(rows, i)),
                  .source = stack->second,
                  .operators = operators.empty() ? 0 : to.text_id(operators),
                  .module = to.object_id(address_in(api.list_item(rows, i + 3))),
                  .owner = owner_id,
                  .flags = flags | number_in(api.list_item(rows, i + 1))});
  }
}

// Records what agent.py found by walking a root module: its modules' names, and the storages of
// their parameters and buffers. Needs the GIL.

std::uint32_t number_of(py object) {
  const python_api& api = python_functions();
  const long value = api.as_long(object);
  if (value < 0) api.clear_error();
  return value < 0 ? 0 : static_cast<std::uint32_t>(value);
}

// Calls row(items) for every `width` items of a flat list.
template <std::size_t width, typename Function>
void for_each_row(py list, Function row) {
  const python_api& api = python_functions();
  if (!is_list(list)) return;
  std::array<py, width> items;
  for (std::ptrdiff_t i = 0; i + static_cast<std::ptrdiff_t>(width) <= api.list_size(list);) {
    for (py& item : items) item = api.list_item(list, i++);
    row(items);
  }
}

std::uint32_t id_of_text(recorder& to, std::string_view text) {
  return text.empty() ? 0 : to.text_id(text);
}

// `modules` is a flat list of (module, path, type, flags), `tensors` one of (tensor, the parameter
// or buffer that it belongs to, role, name, detail or None).
void record_root(recorder& to, py root, py modules, py tensors) {
  const std::uint32_t root_id = to.object_id(address_of(root));
  for_each_row<4>(modules, [&](const std::array<py, 4>& row) {
    to.module({.object = to.object_id(address_of(row[0])),
               .root = root_id,
               .path = id_of_text(to, text_of(row[1])),
               .type = id_of_text(to, text_of(row[2])),
               .flags = number_of(row[3])});
  });
  tensor_names& names = the_tensor_names();
  names.follow(to);
  names.begin_root(address_of(root));
  storage_batch batch;
  for_each_row<5>(tensors, [&](const std::array<py, 5>& row) {
    const auto [tensor, owner, role, name_object, detail] = row;
    const std::string_view name = text_of(name_object);
    const auto kind = static_cast<format::storage_role>(number_of(role));
    names.add(address_of(owner), id_of_text(to, name));
    const bool trains = kind == format::storage_role::parameter && is_tensor(owner) &&
                        autograd::requires_grad(autograd::impl_of(owner));
    const std::uint32_t flags = trains ? format::storage_trainable : 0;
    for_each_storage(tensor, [&, detail = detail](const gpu_storage& storage) {
      batch.add({kind, storage, name, text_of(detail), flags});
    });
  });
  batch.record(to, root_id);
}

using python_stack::method_definition;

using arguments = const py*;

std::uint64_t word_of(py object) {
  const unsigned long long word = python_functions().as_word(object);
  if (word == ~0ull) python_functions().clear_error();
  return word;
}

py truth(bool value) {
  return python_functions().new_bool(value ? 1 : 0);
}

// confirm(*words): whether tensors can be read; the words are those of autograd::layout_probe.
py confirm(arguments values, recorder*) {
  std::array<std::uint64_t, autograd::layout_probe_words> words;
  for (std::size_t i = 0; i < words.size(); ++i) words[i] = word_of(values[i]);
  autograd::layout_probe probe;
  static_assert(sizeof(probe) == sizeof(words));
  std::memcpy(&probe, words.data(), sizeof(probe));
  return truth(autograd::confirm(probe));
}

// know_tensors(torch._C.TensorBase, torch.Tensor, torch.nn.Parameter)
py know_tensors(arguments values, recorder*) {
  autograd::know_tensor_types(values[0], values[1], values[2]);
  return none();
}

// holds_self(slot, is_cell, object): whether its caller's frame has the object where a watched
// call would have its module.
py holds_self(arguments values, recorder*) {
  const python_stack::module_call call(0, static_cast<unsigned>(word_of(values[0])),
                                       word_of(values[1]) != 0);
  return truth(python_stack::self_of_this_function(call) == address_of(values[2]));
}

// watch_module_call(code, slot, is_cell)
py watch_module_call(arguments values, recorder*) {
  python_functions().inc_ref(values[0]);  // for ever: its address stays its own
  python_stack::watch_module_call(address_of(values[0]), static_cast<unsigned>(word_of(values[1])),
                                  word_of(values[2]) != 0);
  return none();
}

// watch_step_call(code)
py watch_step_call(arguments values, recorder*) {
  python_functions().inc_ref(values[0]);  // for ever, as above
  python_stack::watch_step_call(address_of(values[0]));
  return none();
}

// is_running(code): in any thread.
py is_running(arguments values, recorder*) {
  return truth(python_stack::is_running(python_functions(), address_of(values[0])));
}

// record_positions(how many a model has)
py positions(arguments values, recorder* to) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), word_of(values[0])).ptr;
  const auto length = static_cast<std::size_t>(end - digits.begin());
  if (to != nullptr) to->info(format::info_key::positions, {digits.data(), length});
  return none();
}

// record_root(root, modules, tensors)
py record_module(arguments values, recorder* to) {
  if (to != nullptr) record_root(*to, values[0], values[1], values[2]);
  return none();
}

// forget(address of a root)
py forget(arguments values, recorder*) {
  const std::uint64_t root = word_of(values[0]);
  the_root_watch.forget(root);
  the_tensor_names().forget_root(root);
  return none();
}

// begin_step(optimizer, type, param_groups): whether to look at the modules.
py begin(arguments values, recorder* to) {
  return truth(to != nullptr && begin_step(*to, values[0], text_of(values[1]), values[2]));
}

// record_nameless(optimizer, param_groups)
py nameless(arguments values, recorder* to) {
  if (to != nullptr) record_nameless(*to, values[0], values[1]);
  return none();
}

// record_gradients(optimizer, param_groups)
py gradients(arguments values, recorder* to) {
  if (to != nullptr) record_gradients(*to, values[0], values[1]);
  return none();
}

// end_step(optimizer, type, param_groups, state)
py end(arguments values, recorder* to) {
  if (to == nullptr) return none();
  end_step(*to, values[0], text_of(values[1]), values[2], values[3]);
  heap_scan_moments::optimizer_stepped(*to, address_of(values[0]));
  return none();
}

// check_objects(leave): whether a heap scan reads objects right; `leave` is told what code runs.
py objects(arguments values, recorder*) {
  const heap_scan::python_objects* const python = heap_scan::find_python_objects();
  if (python == nullptr) {
    refusals::refuse(capability::census, "it is not known how this Python lays out its objects");
    return none();
  }
  switch (heap_scan::check_objects(*python, values[0])) {
    case heap_scan::object_verdict::agrees:
      watch_function_contexts();
      return none();
    case heap_scan::object_verdict::raised:
      return nullptr;
    case heap_scan::object_verdict::differs:
      break;
  }
  refusals::refuse(capability::census, "this Python's objects are not laid out as in its version");
  return none();
}

// reads_tensors(), watches_optimizers(), takes_heap_scans(): what is wanted.
py tensors(arguments, recorder*) {
  return truth(settings::is_on(capability::autograd));
}
py optimizers(arguments, recorder*) {
  return truth(settings::is_on(capability::optimizer_hooks));
}
py heap_scans(arguments, recorder*) {
  return truth(refusals::is_allowed(capability::census));
}

// allocation_failed(device, bytes, allocated, free): PyTorch's observer.
py failed(arguments, recorder* to) {
  if (to != nullptr) heap_scan_moments::allocation_failed(*to);
  return none();
}

// interpreter_ends(): at exit.
py ends(arguments, recorder* to) {
  if (to != nullptr) heap_scan_moments::interpreter_ends(*to);
  return none();
}

// process_ends(status): before os._exit, which is to be quick: no heap is scanned.
py leaves(arguments values, recorder* to) {
  if (to == nullptr) return none();
  session::leave(static_cast<int>(word_of(values[0])));
  return none();
}

// record_generated(file, owner, flags, rows)
py generated(arguments values, recorder* to) {
  if (to == nullptr) return none();
  record_generated(*to, text_of(values[0]), word_of(values[1]),
                   static_cast<std::uint32_t>(word_of(values[2])), values[3]);
  return none();
}

// Null on a real GPU. The simulator is preloaded, or not there at all.
template <typename Function>
Function* of_simulator(const char* name) noexcept {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// answer_reads(known, value): what this thread reads of unknown data on the simulated GPU from now on.
// Whether anything was read since the last call that was answered; None on a real GPU.
py answered(arguments values, recorder*) {
  auto* const answer =
      of_simulator<unsigned long long(int, long long)>("memtrace_simulator_answer_reads");
  if (answer == nullptr) return none();
  return truth(
      answer(word_of(values[0]) != 0 ? 1 : 0, static_cast<long long>(word_of(values[1]))) != 0);
}

// answer_from(address, host address, bytes): the same of what lies on the host.
py answered_from(arguments values, recorder*) {
  if (auto* const answer = of_simulator<void(unsigned long long, const char*, unsigned long long)>(
          "memtrace_simulator_answer_from")) {
    answer(word_of(values[0]), reinterpret_cast<const char*>(word_of(values[1])),
           word_of(values[2]));
  }
  return none();
}

// name_reads(operator): of PyTorch, in which this thread reads from now on; "": none.
py named(arguments values, recorder*) {
  if (auto* const name = of_simulator<void(const char*)>("memtrace_simulator_name_reads")) {
    name(std::string(text_of(values[0])).c_str());
  }
  return none();
}

// tell(text): into the trace.
py tell(arguments values, recorder* to) {
  if (to != nullptr) to->message(true, text_of(values[0]));
  return none();
}

template <py (*function)(arguments, recorder*), std::ptrdiff_t expected>
py guarded(py, arguments values, std::ptrdiff_t count) {
  if (count != expected) return none();
  try {
    return function(values, session::active());
  } catch (const std::exception&) {
    return none();
  }
}

template <py (*function)(arguments, recorder*), std::ptrdiff_t expected>
constexpr method_definition definition(const char* name) {
  return {name, {.call_fast = &guarded<function, expected>}, python_stack::method_fast, nullptr};
}

method_definition definitions[] = {
    definition<confirm, autograd::layout_probe_words>("confirm"),
    definition<know_tensors, 3>("know_tensors"),
    definition<holds_self, 3>("holds_self"),
    definition<watch_module_call, 3>("watch_module_call"),
    definition<watch_step_call, 1>("watch_step_call"),
    definition<is_running, 1>("is_running"),
    definition<record_module, 3>("record_root"),
    definition<positions, 1>("record_positions"),
    definition<forget, 1>("forget"),
    definition<begin, 3>("begin_step"),
    definition<nameless, 2>("record_nameless"),
    definition<gradients, 2>("record_gradients"),
    definition<end, 4>("end_step"),
    definition<tensors, 0>("reads_tensors"),
    definition<optimizers, 0>("watches_optimizers"),
    definition<objects, 1>("check_objects"),
    definition<heap_scans, 0>("takes_censuses"),
    definition<failed, 4>("allocation_failed"),
    definition<ends, 0>("interpreter_ends"),
    definition<leaves, 1>("process_ends"),
    definition<generated, 4>("record_generated"),
    definition<answered, 2>("answer_reads"),
    definition<answered_from, 3>("answer_from"),
    definition<named, 1>("name_reads"),
    definition<tell, 1>("tell"),
};

}  // namespace

bool put_bridge(py globals) {
  const python_api& api = python_functions();
  for (method_definition& method : definitions) {
    const reference function(api, api.new_function(&method, nullptr, nullptr));
    if (!function || api.set_item(globals, method.name, function.get()) != 0) {
      api.clear_error();
      return false;
    }
  }
  return true;
}

}  // namespace memtrace::agent
