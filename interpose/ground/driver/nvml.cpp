// SPDX-License-Identifier: Apache-2.0
#include "interpose/ground/driver/nvml.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <span>

namespace memtrace::nvml {
namespace {

using handle = void*;

// nvmlProcessInfo_t since NVML 11.
struct process {
  std::uint32_t id;
  std::uint64_t bytes;
  std::uint32_t instances[2];
};
constexpr std::uint64_t not_available = ~std::uint64_t{0};
constexpr std::size_t most_processes = 256;

using listing = int(handle, unsigned*, process*);

// nvml.h: nvmlReturn_t 0 is success.
struct library {
  int (*start)() = nullptr;
  int (*find)(const char*, handle*) = nullptr;
  int (*instances)(handle, unsigned*, unsigned*) = nullptr;  // nvmlDeviceGetMigMode
  listing* compute = nullptr;
  listing* graphics = nullptr;
};
library opened;

template <typename Function>
void look_up(void* from, const char* name, Function*& to) noexcept {
  to = reinterpret_cast<Function*>(dlsym(from, name));
}

bool is_divided(const library& from, handle device) noexcept {
  unsigned now = 0;
  unsigned pending = 0;
  return from.instances != nullptr && from.instances(device, &now, &pending) == 0 && now != 0;
}

class seen_processes {
 public:
  // False where NVML does not tell.
  [[nodiscard]] bool add(listing* list, handle device) noexcept {
    auto room = static_cast<unsigned>(listed_.size());
    if (list(device, &room, listed_.data()) != 0) return false;
    for (const process& one :
         std::span(listed_).first(std::min<std::size_t>(room, listed_.size()))) {
      if (one.bytes == not_available) return false;
      add(one);
    }
    return true;
  }
  [[nodiscard]] process_bytes sum() const noexcept {
    process_bytes found;
    const auto own_id = static_cast<std::uint32_t>(getpid());
    for (const process& one : std::span(found_).first(count_)) {
      (one.id == own_id ? found.own : found.others) += one.bytes;
      if (one.id == own_id) found.known = true;
    }
    return found;
  }

 private:
  // One that computes and draws is in both lists, with all that it has.
  void add(const process& one) noexcept {
    for (process& before : std::span(found_).first(count_)) {
      if (before.id != one.id) continue;
      before.bytes = std::max(before.bytes, one.bytes);
      return;
    }
    if (count_ < found_.size()) found_[count_++] = one;
  }

  std::array<process, most_processes> listed_{};
  std::array<process, most_processes> found_{};
  std::size_t count_ = 0;
};

}  // namespace

bool load() noexcept {
  void* const file = dlopen("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (file == nullptr) return false;
  look_up(file, "nvmlInit_v2", opened.start);
  look_up(file, "nvmlDeviceGetHandleByPciBusId_v2", opened.find);
  look_up(file, "nvmlDeviceGetMigMode", opened.instances);
  look_up(file, "nvmlDeviceGetComputeRunningProcesses_v3", opened.compute);
  look_up(file, "nvmlDeviceGetGraphicsRunningProcesses_v3", opened.graphics);
  return opened.start != nullptr && opened.find != nullptr && opened.compute != nullptr;
}

bool start() noexcept {
  return opened.start() == 0;
}

process_bytes of_device(const char* pci_bus_id) noexcept {
  handle device = nullptr;
  if (opened.find(pci_bus_id, &device) != 0 || is_divided(opened, device)) return {};
  seen_processes seen;
  if (!seen.add(opened.compute, device)) return {};
  if (opened.graphics != nullptr) (void)seen.add(opened.graphics, device);
  return seen.sum();
}

}  // namespace memtrace::nvml
