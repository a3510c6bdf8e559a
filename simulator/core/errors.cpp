// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/errors.h"

#include "simulator/log/log.h"

namespace memtrace::simulator {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

constexpr error_description descriptions[] = {
#define MEMTRACE_ERROR(code, runtime, driver, text) {code, runtime, driver, text},
#include "simulator/errors.def"
#undef MEMTRACE_ERROR
};

// Apart, so that what a call does in good times stays short.
[[gnu::cold, gnu::noinline]] void tell(cudaError_t error) {
  const error_description* const known = describe_error(error);
  const char* const name = known == nullptr ? nullptr : known->runtime_name;
  log::debug("the program gets error {} ({})", static_cast<int>(error),
             name == nullptr ? "unnamed" : name);
}

}  // namespace

cudaError_t remember(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) {
    last_error = error;
    tell(error);
  }
  return error;
}

cudaError_t peek_last_error() {
  return last_error;
}

cudaError_t take_last_error() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

const error_description* describe_error(int code) {
  for (const error_description& one : descriptions) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

}  // namespace memtrace::simulator
