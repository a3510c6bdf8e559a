// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/own_memory.h"

#include <cuda.h>
#include <dlfcn.h>
#include <link.h>

#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "simulator/core/device.h"
#include "simulator/log/log.h"

namespace memtrace::simulator::own_memory {
namespace {

// Calls `function` with the first three (simulator/program/elf_writer.h).
using call_from = std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t, void* function);

std::uint64_t call_directly(std::uint64_t first, std::uint64_t second, std::uint64_t third,
                            void* function) {
  return reinterpret_cast<std::uint64_t (*)(std::uint64_t, std::uint64_t, std::uint64_t)>(function)(
      first, second, third);
}

struct search {
  std::string_view library;
  std::string path;  // found
};

// By the soname that leads to the stand-in's file, or by the file.
bool is_stand_in(std::string_view file, std::string_view library) {
  if (file.substr(0, library.size()) != library) return false;
  const std::string_view rest = file.substr(library.size());
  return rest.substr(0, 4) == ".so." || rest.substr(0, 13) == ".simulated.so";
}

int look_at(dl_phdr_info* info, std::size_t, void* opaque) {
  auto& wanted = *static_cast<search*>(opaque);
  const std::string_view path = info->dlpi_name;
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!is_stand_in(file, wanted.library)) return 0;
  wanted.path = path;
  return 1;
}

// In a program that links the simulated CUDA itself there are no stand-ins: the call comes from
// here.
call_from caller_in(const char* library) {
  search wanted{library, {}};
  dl_iterate_phdr(look_at, &wanted);
  if (wanted.path.empty()) return call_directly;
  void* const handle = dlopen(wanted.path.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  void* const found = handle ? dlsym(handle, "memtrace_simulator_call_from_here") : nullptr;
  if (handle) dlclose(handle);  // the stand-ins are never unloaded
  return found ? reinterpret_cast<call_from>(found) : call_directly;
}

call_from caller_of(const char* library) {
  static std::mutex mutex;
  static auto* const known = new std::map<std::string, call_from>;
  const std::lock_guard lock(mutex);
  call_from& caller = (*known)[library];
  if (caller == nullptr) caller = caller_in(library);
  return caller;
}

CUresult call(const char* library, int device, const char* name, void* in_this_library,
              std::uint64_t first, std::uint64_t second) {
  void* function = dlsym(RTLD_DEFAULT, name);
  if (function == nullptr) function = in_this_library;
  const CUcontext context = current_context();
  const int before = current_device();
  set_current_context(primary_context(device));
  const std::uint64_t result = caller_of(library)(first, second, 0, function);
  set_current_context(context);
  set_current_device(before);
  return static_cast<CUresult>(static_cast<std::uint32_t>(result));
}

}  // namespace

bool take(const char* library, int device, std::uint64_t bytes, address_t& address) {
  address = 0;
  if (bytes == 0) return true;
  CUdeviceptr given = 0;
  const CUresult result =
      call(library, device, "cuMemAlloc_v2", reinterpret_cast<void*>(&cuMemAlloc),
           reinterpret_cast<std::uint64_t>(&given), bytes);
  address = given;
  log::debug("{} takes {} bytes on device {}{}", library, bytes, device,
             result == CUDA_SUCCESS ? "" : ": refused");
  return result == CUDA_SUCCESS;
}

void give_back(const char* library, int device, address_t address) {
  if (address == 0) return;
  (void)call(library, device, "cuMemFree_v2", reinterpret_cast<void*>(&cuMemFree), address, 0);
}

}  // namespace memtrace::simulator::own_memory
