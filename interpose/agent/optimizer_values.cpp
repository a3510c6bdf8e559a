// SPDX-License-Identifier: Apache-2.0
#include "interpose/agent/optimizer_values.h"

namespace memtrace::agent {

std::string parameter_place::name() const {
  return "param_groups[" + std::to_string(group) + "].params[" + std::to_string(index) + "]";
}

}  // namespace memtrace::agent
