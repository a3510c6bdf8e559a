// SPDX-License-Identifier: Apache-2.0
//
// A library that asks the driver for memory itself.
#include "by_name.h"

int asks_for_memory(device_pointer* p, size_t bytes) {
  const int error = CALL(cuMemAlloc_v2, (device_pointer*, size_t), p, bytes);
  return error;
}
