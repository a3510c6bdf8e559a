// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/loader/real_function.h"

#include <dlfcn.h>

#include "interpose/ground/base/loaded_library.h"

namespace memtrace {
namespace {

const char* library_prefix(library_family family) noexcept {
  switch (family) {
    case library_family::c_library:
      return "libc.so";
    case library_family::runtime:
      return "libcudart.so";
    case library_family::driver:
      return "libcuda.so";
    case library_family::cublas:
      return "libcublas.so";
    case library_family::cublasLt:
      return "libcublasLt.so";
    case library_family::cudnn:
      return "libcudnn.so";
    case library_family::cufft:
      return "libcufft.so";
    case library_family::cupti:
      return "libcupti.so";
    case library_family::c10:
      return "libc10.so";
    case library_family::c10_cuda:
      return "libc10_cuda.so";
    case library_family::torch_cpu:
      return "libtorch_cpu.so";
  }
  return "";
}

}  // namespace

void* find_real_function(library_family family, const char* symbol) noexcept {
  if (void* const next = dlsym(RTLD_NEXT, symbol); next != nullptr) return next;
  return find_in_loaded_library(library_prefix(family), symbol);
}

bool is_from_family(library_family family, const void* function) noexcept {
  Dl_info found;
  return dladdr(function, &found) != 0 && has_base_name(found.dli_fname, library_prefix(family));
}

}  // namespace memtrace
