// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>

#include "simulator/core/attributes.h"
#include "simulator/core/config.h"
#include "simulator/core/device.h"
#include "simulator/core/identity.h"

namespace memtrace::simulator {
namespace {

template <typename Field>
void set(Field& field, int attribute, int device) {
  field = static_cast<Field>(device_attribute(attribute, device).value_or(0));
}

}  // namespace

cudaDeviceProp device_properties(int device) {
  const gpu_model& model = config().model;
  cudaDeviceProp prop{};
  std::snprintf(prop.name, sizeof prop.name, "%s", model.name);
  const auto uuid = uuid_of(physical_device(device));
  std::memcpy(prop.uuid.bytes, uuid.data(), uuid.size());
  prop.totalGlobalMem = model.total_bytes;
#define MEMTRACE_PROPERTY(field, attribute) \
  set(prop.field, CU_DEVICE_ATTRIBUTE_##attribute, device);
#include "simulator/properties.def"
#undef MEMTRACE_PROPERTY
  return prop;
}

}  // namespace memtrace::simulator
