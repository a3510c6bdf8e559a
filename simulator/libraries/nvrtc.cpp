// SPDX-License-Identifier: Apache-2.0
//
// NVRTC: compiles nothing. A program is whatever source it was given; its PTX is a header without
// code, which the simulated driver loads and finds every kernel in.
#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstring>
#include <deque>
#include <string>
#include <string_view>

#include "simulator/core/export.h"

namespace memtrace::simulator::nvrtc {
namespace {

enum status : int { success = 0, invalid_input = 3, invalid_program = 4 };

constexpr std::string_view ptx = ".version 8.0\n.target sm_70\n.address_size 64\n";

struct program {
  std::string source;
  std::deque<std::string> expressions;  // stays in place: PyTorch keeps pointers into it
};

int put_size(const program* program, std::size_t* to, std::size_t bytes) {
  if (program == nullptr) return invalid_program;
  if (to == nullptr) return invalid_input;
  *to = bytes;
  return success;
}

int put_text(const program* program, char* to, std::string_view text) {
  if (program == nullptr) return invalid_program;
  if (to == nullptr) return invalid_input;
  std::memcpy(to, text.data(), text.size());
  to[text.size()] = '\0';
  return success;
}

}  // namespace

MEMTRACE_API int nvrtcVersion(int* major, int* minor) {
  if (major == nullptr || minor == nullptr) return invalid_input;
  *major = CUDART_VERSION / 1000;
  *minor = CUDART_VERSION % 1000 / 10;
  return success;
}
MEMTRACE_API const char* nvrtcGetErrorString(int code) {
  switch (code) {
    case success:
      return "NVRTC_SUCCESS";
    case invalid_input:
      return "NVRTC_ERROR_INVALID_INPUT";
    case invalid_program:
      return "NVRTC_ERROR_INVALID_PROGRAM";
    default:
      return "NVRTC_ERROR unknown";
  }
}

MEMTRACE_API int nvrtcCreateProgram(program** to, const char* source, const char*, int,
                                    const char* const*, const char* const*) {
  if (to == nullptr || source == nullptr) return invalid_input;
  *to = new program{source, {}};
  return success;
}
MEMTRACE_API int nvrtcDestroyProgram(program** program) {
  if (program == nullptr) return invalid_program;
  delete *program;
  *program = nullptr;
  return success;
}
MEMTRACE_API int nvrtcCompileProgram(const program* program, int, const char* const*) {
  return program == nullptr ? invalid_program : success;
}
MEMTRACE_API int nvrtcAddNameExpression(program* program, const char* expression) {
  if (program == nullptr) return invalid_program;
  if (expression == nullptr) return invalid_input;
  program->expressions.emplace_back(expression);
  return success;
}
// The lowered name is the expression itself: the driver finds kernels of any name.
MEMTRACE_API int nvrtcGetLoweredName(const program* program, const char* expression,
                                     const char** to) {
  if (program == nullptr) return invalid_program;
  if (expression == nullptr || to == nullptr) return invalid_input;
  for (const std::string& known : program->expressions) {
    if (known == expression) {
      *to = known.c_str();
      return success;
    }
  }
  return invalid_input;
}

// Sizes count the terminating zero.
MEMTRACE_API int nvrtcGetPTXSize(const program* program, std::size_t* to) {
  return put_size(program, to, ptx.size() + 1);
}
MEMTRACE_API int nvrtcGetPTX(const program* program, char* to) {
  return put_text(program, to, ptx);
}
MEMTRACE_API int nvrtcGetCUBINSize(const program* program, std::size_t* to) {
  return put_size(program, to, ptx.size() + 1);
}
MEMTRACE_API int nvrtcGetCUBIN(const program* program, char* to) {
  return put_text(program, to, ptx);
}
MEMTRACE_API int nvrtcGetProgramLogSize(const program* program, std::size_t* to) {
  return put_size(program, to, 1);
}
MEMTRACE_API int nvrtcGetProgramLog(const program* program, char* to) {
  return put_text(program, to, "");
}

}  // namespace memtrace::simulator::nvrtc
