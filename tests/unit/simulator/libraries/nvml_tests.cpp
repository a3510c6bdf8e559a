// SPDX-License-Identifier: Apache-2.0
//
// NVML must say of the simulated GPUs what CUDA says.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "tests/unit/catch.h"

extern "C" {
struct nvml_memory {
  std::uint64_t total, free, used;
};
struct nvml_process {
  std::uint32_t pid;
  std::uint64_t used;
};
int nvmlInit_v2();
int nvmlShutdown();
int nvmlDeviceGetCount_v2(unsigned*);
int nvmlDeviceGetHandleByIndex_v2(unsigned, void**);
int nvmlDeviceGetHandleByPciBusId_v2(const char*, void**);
int nvmlDeviceGetHandleByUUID(const char*, void**);
int nvmlDeviceGetUUID(void*, char*, unsigned);
int nvmlDeviceGetName(void*, char*, unsigned);
int nvmlDeviceGetMemoryInfo(void*, nvml_memory*);
int nvmlDeviceGetComputeRunningProcesses(void*, unsigned*, nvml_process*);
int nvmlDeviceGetGpuFabricInfoV(void*, void*);
int nvmlDeviceGetCudaComputeCapability(void*, int*, int*);
}

namespace {

constexpr int success = 0;
constexpr int uninitialized = 1;
constexpr int not_supported = 3;
constexpr int not_found = 6;
constexpr int insufficient_size = 7;

struct session {
  session() { REQUIRE(nvmlInit_v2() == success); }
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session() { (void)nvmlShutdown(); }
};

void* device_of_cuda() {
  char bus_id[32];
  REQUIRE(cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, 0) == cudaSuccess);
  void* device = nullptr;
  REQUIRE(nvmlDeviceGetHandleByPciBusId_v2(bus_id, &device) == success);
  return device;
}

}  // namespace

TEST_CASE("NVML answers only between init and shutdown") {
  unsigned count = 0;
  REQUIRE(nvmlDeviceGetCount_v2(&count) == uninitialized);
  {
    const session open;
    REQUIRE(nvmlDeviceGetCount_v2(&count) == success);
    REQUIRE(count == 1);
  }
  REQUIRE(nvmlDeviceGetCount_v2(&count) == uninitialized);
}

TEST_CASE("NVML finds the CUDA device by its bus id, and the same one by index and UUID") {
  const session open;
  void* const device = device_of_cuda();
  void* by_index = nullptr;
  REQUIRE(nvmlDeviceGetHandleByIndex_v2(0, &by_index) == success);
  REQUIRE(by_index == device);
  char uuid[96];
  REQUIRE(nvmlDeviceGetUUID(device, uuid, sizeof uuid) == success);
  void* by_uuid = nullptr;
  REQUIRE(nvmlDeviceGetHandleByUUID(uuid, &by_uuid) == success);
  REQUIRE(by_uuid == device);
  REQUIRE(nvmlDeviceGetUUID(device, uuid, 10) == insufficient_size);
  void* none = nullptr;
  REQUIRE(nvmlDeviceGetHandleByPciBusId_v2("0000:EE:00.0", &none) == not_found);
}

TEST_CASE("NVML's UUID, bus number, name and capability are those of cudaDeviceProp") {
  const session open;
  cudaDeviceProp properties;
  REQUIRE(cudaGetDeviceProperties(&properties, 0) == cudaSuccess);
  void* const device = device_of_cuda();
  char name[96];
  REQUIRE(nvmlDeviceGetName(device, name, sizeof name) == success);
  REQUIRE(std::string(name) == properties.name);
  char uuid[96];
  REQUIRE(nvmlDeviceGetUUID(device, uuid, sizeof uuid) == success);
  std::string digits;
  for (const unsigned char byte : properties.uuid.bytes) {
    char text[3];
    std::snprintf(text, sizeof text, "%02x", byte);
    digits += text;
  }
  std::string without_dashes;
  for (const char* at = uuid + std::strlen("GPU-"); *at != '\0'; ++at) {
    if (*at != '-') without_dashes += *at;
  }
  REQUIRE(without_dashes == digits);
  int major = 0;
  int minor = 0;
  REQUIRE(nvmlDeviceGetCudaComputeCapability(device, &major, &minor) == success);
  REQUIRE(major == properties.major);
  REQUIRE(minor == properties.minor);
}

TEST_CASE("NVML's memory moves with cudaMemGetInfo, and names this process") {
  const session open;
  constexpr std::size_t bytes = 64 << 20;
  void* memory = nullptr;
  REQUIRE(cudaMalloc(&memory, bytes) == cudaSuccess);
  void* const device = device_of_cuda();
  std::size_t free = 0;
  std::size_t total = 0;
  REQUIRE(cudaMemGetInfo(&free, &total) == cudaSuccess);
  nvml_memory info{};
  REQUIRE(nvmlDeviceGetMemoryInfo(device, &info) == success);
  REQUIRE(info.free == free);
  REQUIRE(info.used + info.free == info.total);

  unsigned room = 0;
  REQUIRE(nvmlDeviceGetComputeRunningProcesses(device, &room, nullptr) == insufficient_size);
  REQUIRE(room == 1);
  nvml_process process{};
  REQUIRE(nvmlDeviceGetComputeRunningProcesses(device, &room, &process) == success);
  REQUIRE(process.pid == static_cast<std::uint32_t>(getpid()));
  REQUIRE(process.used == total - free);

  REQUIRE(cudaFree(memory) == cudaSuccess);
  nvml_memory after{};
  REQUIRE(nvmlDeviceGetMemoryInfo(device, &after) == success);
  REQUIRE(info.used - after.used == bytes);
}

TEST_CASE("NVML has no NVLink fabric") {
  const session open;
  REQUIRE(nvmlDeviceGetGpuFabricInfoV(device_of_cuda(), nullptr) == not_supported);
}
