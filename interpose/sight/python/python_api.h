// SPDX-License-Identifier: Apache-2.0
//
// The functions of CPython that the self-check and the agent call, by name. All need the GIL.
// Python.h is not used: the library is built once for all versions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace memtrace::python_stack {

struct python_object;  // PyObject
using py = python_object*;

[[nodiscard]] inline std::uintptr_t address_of(py object) noexcept {
  return reinterpret_cast<std::uintptr_t>(object);
}

struct method_definition {  // PyMethodDef
  const char* name;
  union {  // which of them is said by the flags
    py (*call)(py self, py unused);
    py (*call_fast)(py self, const py* arguments, std::ptrdiff_t count);
  };
  int flags;
  const char* documentation;
};
inline constexpr int method_without_arguments = 4;  // METH_NOARGS
inline constexpr int method_fast = 0x80;            // METH_FASTCALL: self, arguments, how many
inline constexpr int file_input = 257;              // Py_file_input

// X(member, exported name, result, parameters)
#define MEMTRACE_PYTHON_API(X)                                             \
  X(inc_ref, Py_IncRef, void, (py))                                        \
  X(dec_ref, Py_DecRef, void, (py))                                        \
  X(compile, Py_CompileString, py, (const char*, const char*, int))        \
  X(evaluate, PyEval_EvalCode, py, (py, py, py))                           \
  X(builtins, PyEval_GetBuiltins, py, ())                                  \
  X(new_dict, PyDict_New, py, ())                                          \
  X(set_item, PyDict_SetItemString, int, (py, const char*, py))            \
  X(get_item, PyDict_GetItemString, py, (py, const char*))                 \
  X(new_text, PyUnicode_FromString, py, (const char*))                     \
  X(new_function, PyCFunction_NewEx, py, (method_definition*, py, py))     \
  X(call, PyObject_CallFunctionObjArgs, py, (py, ...))                     \
  X(is_true, PyObject_IsTrue, int, (py))                                   \
  X(new_bool, PyBool_FromLong, py, (long))                                 \
  X(clear_error, PyErr_Clear, void, ())                                    \
  X(system_object, PySys_GetObject, py, (const char*))                     \
  X(attribute, PyObject_GetAttrString, py, (py, const char*))              \
  X(as_long, PyLong_AsLong, long, (py))                                    \
  X(frame, PyEval_GetFrame, py, ())                                        \
  X(frame_back, PyFrame_GetBack, py, (py))                                 \
  X(frame_code, PyFrame_GetCode, py, (py))                                 \
  X(line_of, PyCode_Addr2Line, int, (py, int))                             \
  X(encode, PyUnicode_AsEncodedString, py, (py, const char*, const char*)) \
  X(bytes_of, PyBytes_AsStringAndSize, int, (py, char**, std::ptrdiff_t*)) \
  X(as_word, PyLong_AsUnsignedLongLong, unsigned long long, (py))          \
  X(new_word, PyLong_FromUnsignedLongLong, py, (unsigned long long))       \
  X(utf8, PyUnicode_AsUTF8AndSize, const char*, (py, std::ptrdiff_t*))     \
  X(intern_text, PyUnicode_InternFromString, py, (const char*))            \
  X(get_attribute, PyObject_GetAttr, py, (py, py))                         \
  X(list_size, PyList_Size, std::ptrdiff_t, (py))                          \
  X(list_item, PyList_GetItem, py, (py, std::ptrdiff_t))                   \
  X(tuple_size, PyTuple_Size, std::ptrdiff_t, (py))                        \
  X(tuple_item, PyTuple_GetItem, py, (py, std::ptrdiff_t))                 \
  X(dict_item, PyDict_GetItem, py, (py, py))                               \
  X(dict_next, PyDict_Next, int, (py, std::ptrdiff_t*, py*, py*))          \
  X(is_subtype, PyType_IsSubtype, int, (py, py))                           \
  X(new_list, PyList_New, py, (std::ptrdiff_t))                            \
  X(list_append, PyList_Append, int, (py, py))                             \
  X(main_interpreter, PyInterpreterState_Main, void*, ())                  \
  X(first_thread, PyInterpreterState_ThreadHead, void*, (void*))           \
  X(next_thread, PyThreadState_Next, void*, (void*))

struct python_api {
#define MEMTRACE_MEMBER(member, name, result, parameters) result(*member) parameters = nullptr;
  MEMTRACE_PYTHON_API(MEMTRACE_MEMBER)
#undef MEMTRACE_MEMBER
  py none = nullptr;
  bool complete = false;  // everything was found
};

[[nodiscard]] python_api find_python_api() noexcept;

// Whether a tracer or profiler of the program would see Python code of ours run in this thread,
// and count it. With the GIL.
[[nodiscard]] bool is_observed(const python_api& api);

// A reference that is given back at the end of its scope.
class reference {
 public:
  reference(const python_api& api, py object) noexcept : api_(api), object_(object) {}
  reference(const reference&) = delete;
  reference& operator=(const reference&) = delete;
  ~reference() noexcept(false) {
    if (object_ != nullptr) api_.dec_ref(object_);
  }
  [[nodiscard]] py get() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  void reset(py object) {
    if (object_ != nullptr) api_.dec_ref(object_);
    object_ = object;
  }

 private:
  const python_api& api_;
  py object_;
};

}  // namespace memtrace::python_stack
