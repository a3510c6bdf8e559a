// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/vmm.h"

#include <sys/mman.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <vector>

#include "simulator/core/address_space.h"
#include "simulator/core/contents.h"
#include "simulator/core/device.h"
#include "simulator/core/registry.h"

namespace memtrace::simulator::vmm {
namespace {

struct physical {
  std::size_t bytes;
  CUmemAllocationProp prop;
  std::uint64_t references;  // handles not yet released
  std::uint64_t mappings;
  bool charged;
};

struct mapping {
  std::size_t bytes;
  handle_t handle;
  std::map<int, CUmemAccess_flags> access;
};

struct state_type {
  std::mutex mutex;
  range_allocator addresses{address_space::of_reservations().begin,
                            address_space::of_reservations().end};
  std::map<address_t, std::size_t> reservations;
  std::map<handle_t, physical> handles;
  std::map<address_t, mapping> mappings;
  handle_t last_handle = 0;
};

state_type& state() {
  static state_type* const instance = new state_type;
  return *instance;
}

// The content of a file descriptor made by export_descriptor.
struct exported {
  char magic[8];
  pid_t pid;
  handle_t handle;
  std::size_t bytes;
  CUmemAllocationProp prop;
};
constexpr char export_magic[8] = {'m', 't', 'v', 'm', 'm', '0', '0', '1'};

bool on_device(const CUmemAllocationProp& prop) {
  return prop.location.type == CU_MEM_LOCATION_TYPE_DEVICE;
}

void drop_if_unused(std::map<handle_t, physical>::iterator place) {
  const physical& memory = place->second;
  if (memory.references != 0 || memory.mappings != 0) return;
  if (memory.charged) uncharge(memory.prop.location.id, memory.bytes);
  state().handles.erase(place);
}

bool in_one_reservation(address_t address, std::size_t bytes) {
  auto place = state().reservations.upper_bound(address);
  if (place == state().reservations.begin()) return false;
  --place;
  const std::size_t offset = address - place->first;
  return offset < place->second && bytes <= place->second - offset;
}

bool touches_mapping(address_t address, std::size_t bytes) {
  auto next = state().mappings.lower_bound(address);
  if (next != state().mappings.end() && next->first < address + bytes) return true;
  if (next == state().mappings.begin()) return false;
  --next;
  return next->first + next->second.bytes > address;
}

// The mappings that make up the range exactly; empty if they do not.
std::vector<address_t> whole_mappings(address_t address, std::size_t bytes) {
  std::vector<address_t> found;
  const address_t end = address + bytes;
  address_t at = address;
  while (at < end) {
    const auto place = state().mappings.find(at);
    if (place == state().mappings.end()) return {};
    found.push_back(at);
    at += place->second.bytes;
  }
  return at == end ? found : std::vector<address_t>{};
}

bool is_mapping(const memory_range& range) {
  return range.mapped_vmm;
}

handle_t add_handle(std::size_t bytes, const CUmemAllocationProp& prop, bool charged) {
  // Handles are no pointers: small numbers that are never used again.
  const handle_t handle = ++state().last_handle;
  state().handles[handle] = {bytes, prop, 1, 0, charged};
  return handle;
}

}  // namespace

CUresult reserve(address_t& address, std::size_t bytes, std::size_t alignment, address_t wanted) {
  if (bytes == 0 || bytes % granularity != 0) return CUDA_ERROR_INVALID_VALUE;
  if ((alignment & (alignment - 1)) != 0) return CUDA_ERROR_INVALID_VALUE;
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  const address_t place =
      all.addresses.allocate(bytes, alignment < granularity ? granularity : alignment, wanted);
  if (place == 0) return CUDA_ERROR_OUT_OF_MEMORY;
  all.reservations[place] = bytes;
  address = place;
  return CUDA_SUCCESS;
}

CUresult free_reservation(address_t address, std::size_t bytes) {
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  const auto place = all.reservations.find(address);
  if (place == all.reservations.end() || place->second != bytes) return CUDA_ERROR_INVALID_VALUE;
  if (touches_mapping(address, bytes)) return CUDA_ERROR_INVALID_VALUE;
  all.reservations.erase(place);
  all.addresses.release(address, bytes);
  return CUDA_SUCCESS;
}

CUresult create(handle_t& handle, std::size_t bytes, const CUmemAllocationProp& prop) {
  if (bytes == 0 || bytes % granularity != 0) return CUDA_ERROR_INVALID_VALUE;
  if (prop.type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (on_device(prop) && !valid_device(prop.location.id)) return CUDA_ERROR_INVALID_DEVICE;
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  if (on_device(prop) && !charge(prop.location.id, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  handle = add_handle(bytes, prop, on_device(prop));
  return CUDA_SUCCESS;
}

CUresult create_multicast(handle_t& handle, std::size_t bytes) {
  CUmemAllocationProp prop{};
  prop.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  prop.location = {CU_MEM_LOCATION_TYPE_DEVICE, current_device()};
  const std::lock_guard lock(state().mutex);
  handle = add_handle(bytes, prop, false);
  return CUDA_SUCCESS;
}

CUresult release(handle_t handle) {
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  const auto place = all.handles.find(handle);
  if (place == all.handles.end() || place->second.references == 0) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  --place->second.references;
  drop_if_unused(place);
  return CUDA_SUCCESS;
}

CUresult retain(handle_t& handle, address_t address) {
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  auto place = all.mappings.upper_bound(address);
  if (place == all.mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  --place;
  if (address - place->first >= place->second.bytes) return CUDA_ERROR_INVALID_VALUE;
  handle = place->second.handle;
  ++all.handles.at(handle).references;
  return CUDA_SUCCESS;
}

CUresult properties(CUmemAllocationProp& prop, handle_t handle) {
  const std::lock_guard lock(state().mutex);
  const auto place = state().handles.find(handle);
  if (place == state().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  prop = place->second.prop;
  return CUDA_SUCCESS;
}

CUresult size_of(handle_t handle, std::size_t& bytes) {
  const std::lock_guard lock(state().mutex);
  const auto place = state().handles.find(handle);
  if (place == state().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  bytes = place->second.bytes;
  return CUDA_SUCCESS;
}

CUresult map(address_t address, std::size_t bytes, std::size_t offset, handle_t handle) {
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  const auto place = all.handles.find(handle);
  if (place == all.handles.end() || place->second.references == 0 || offset != 0 ||
      bytes != place->second.bytes || address % granularity != 0 ||
      !in_one_reservation(address, bytes) || touches_mapping(address, bytes)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  ++place->second.mappings;
  all.mappings[address] = {bytes, handle, {}};
  memory_range range;
  range.kind = on_device(place->second.prop) ? memory_kind::device : memory_kind::host;
  range.base = address;
  range.size = bytes;
  range.device = on_device(place->second.prop) ? place->second.prop.location.id : current_device();
  range.mapped_vmm = true;
  registry::add(range);
  return CUDA_SUCCESS;
}

CUresult unmap(address_t address, std::size_t bytes) {
  state_type& all = state();
  const std::lock_guard lock(all.mutex);
  const std::vector<address_t> parts = whole_mappings(address, bytes);
  if (parts.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (const address_t part : parts) {
    const auto place = all.mappings.find(part);
    const auto memory = all.handles.find(place->second.handle);
    registry::remove(part, is_mapping);
    contents::forget(part, place->second.bytes);
    all.mappings.erase(place);
    --memory->second.mappings;
    drop_if_unused(memory);
  }
  return CUDA_SUCCESS;
}

CUresult set_access(address_t address, std::size_t bytes, const CUmemAccessDesc* descriptions,
                    std::size_t count) {
  if (descriptions == nullptr && count != 0) return CUDA_ERROR_INVALID_VALUE;
  const std::lock_guard lock(state().mutex);
  const std::vector<address_t> parts = whole_mappings(address, bytes);
  if (parts.empty()) return CUDA_ERROR_INVALID_VALUE;
  for (std::size_t i = 0; i < count; ++i) {
    const CUmemLocation& where = descriptions[i].location;
    if (where.type == CU_MEM_LOCATION_TYPE_DEVICE && !valid_device(where.id)) {
      return CUDA_ERROR_INVALID_DEVICE;
    }
    const int key = where.type == CU_MEM_LOCATION_TYPE_DEVICE ? where.id : -1;
    for (const address_t part : parts) {
      state().mappings.at(part).access[key] = descriptions[i].flags;
    }
  }
  return CUDA_SUCCESS;
}

CUresult get_access(unsigned long long& flags, const CUmemLocation& location, address_t address) {
  const std::lock_guard lock(state().mutex);
  auto place = state().mappings.upper_bound(address);
  if (place == state().mappings.begin()) return CUDA_ERROR_INVALID_VALUE;
  --place;
  if (address - place->first >= place->second.bytes) return CUDA_ERROR_INVALID_VALUE;
  const auto found =
      place->second.access.find(location.type == CU_MEM_LOCATION_TYPE_DEVICE ? location.id : -1);
  flags = found == place->second.access.end() ? CU_MEM_ACCESS_FLAGS_PROT_NONE : found->second;
  return CUDA_SUCCESS;
}

CUresult export_descriptor(int& descriptor, handle_t handle) {
  const std::lock_guard lock(state().mutex);
  const auto place = state().handles.find(handle);
  if (place == state().handles.end()) return CUDA_ERROR_INVALID_VALUE;
  exported content{};
  std::copy(std::begin(export_magic), std::end(export_magic), content.magic);
  content.pid = getpid();
  content.handle = handle;
  content.bytes = place->second.bytes;
  content.prop = place->second.prop;
  const int file = memfd_create("memtrace-vmm", MFD_CLOEXEC);
  if (file < 0) return CUDA_ERROR_OPERATING_SYSTEM;
  if (pwrite(file, &content, sizeof content, 0) != sizeof content) {
    close(file);
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  descriptor = file;
  return CUDA_SUCCESS;
}

CUresult import_descriptor(handle_t& handle, int descriptor) {
  exported content{};
  if (pread(descriptor, &content, sizeof content, 0) != sizeof content ||
      !std::equal(std::begin(export_magic), std::end(export_magic), content.magic)) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const std::lock_guard lock(state().mutex);
  if (content.pid == getpid()) {
    const auto place = state().handles.find(content.handle);
    if (place == state().handles.end()) return CUDA_ERROR_INVALID_VALUE;
    ++place->second.references;
    handle = content.handle;
    return CUDA_SUCCESS;
  }
  handle = add_handle(content.bytes, content.prop, false);
  return CUDA_SUCCESS;
}

}  // namespace memtrace::simulator::vmm
