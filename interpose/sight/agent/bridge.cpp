// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/agent/bridge.h"

#include <array>
#include <cstring>
#include <exception>

#include "interpose/ground/base/settings.h"
#include "interpose/ground/session/refusals.h"
#include "interpose/ground/session/session.h"
#include "interpose/sight/agent/census_moments.h"
#include "interpose/sight/agent/function_contexts.h"
#include "interpose/sight/agent/generated_code.h"
#include "interpose/sight/agent/module_names.h"
#include "interpose/sight/agent/optimizer_steps.h"
#include "interpose/sight/agent/root_watch.h"
#include "interpose/sight/agent/tensor_names.h"
#include "interpose/sight/heap_scan/object_check.h"
#include "interpose/sight/python/module_search.h"
#include "interpose/sight/python/python_stack.h"

namespace memtrace::agent {

namespace {

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
  census_moments::optimizer_stepped(*to, address_of(values[0]));
  return none();
}

// check_objects(leave): whether a census reads objects right; `leave` is told what code runs.
py objects(arguments values, recorder*) {
  const census::python_objects* const python = census::find_python_objects();
  if (python == nullptr) {
    refusals::refuse(capability::census, "it is not known how this Python lays out its objects");
    return none();
  }
  switch (census::check_objects(*python, values[0])) {
    case census::object_verdict::agrees:
      watch_function_contexts();
      return none();
    case census::object_verdict::raised:
      return nullptr;
    case census::object_verdict::differs:
      break;
  }
  refusals::refuse(capability::census, "this Python's objects are not laid out as in its version");
  return none();
}

// reads_tensors(), watches_optimizers(), takes_censuses(): what is wanted.
py tensors(arguments, recorder*) {
  return truth(settings::is_on(capability::autograd));
}
py optimizers(arguments, recorder*) {
  return truth(settings::is_on(capability::optimizer_hooks));
}
py censuses(arguments, recorder*) {
  return truth(refusals::is_allowed(capability::census));
}

// allocation_failed(device, bytes, allocated, free): PyTorch's observer.
py failed(arguments, recorder* to) {
  if (to != nullptr) census_moments::allocation_failed(*to);
  return none();
}

// interpreter_ends(): at exit.
py ends(arguments, recorder* to) {
  if (to != nullptr) census_moments::interpreter_ends(*to);
  return none();
}

// record_generated(file, owner, flags, rows)
py generated(arguments values, recorder* to) {
  if (to == nullptr) return none();
  record_generated(*to, text_of(values[0]), word_of(values[1]),
                   static_cast<std::uint32_t>(word_of(values[2])), values[3]);
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
    definition<forget, 1>("forget"),
    definition<begin, 3>("begin_step"),
    definition<nameless, 2>("record_nameless"),
    definition<gradients, 2>("record_gradients"),
    definition<end, 4>("end_step"),
    definition<tensors, 0>("reads_tensors"),
    definition<optimizers, 0>("watches_optimizers"),
    definition<objects, 1>("check_objects"),
    definition<censuses, 0>("takes_censuses"),
    definition<failed, 4>("allocation_failed"),
    definition<ends, 0>("interpreter_ends"),
    definition<generated, 4>("record_generated"),
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
