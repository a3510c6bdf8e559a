// SPDX-License-Identifier: Apache-2.0
//
// cuDNN's backend descriptors: what is set is kept and read back; what a real library would find
// out (engines, plans, workspaces) has one answer.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "simulator/libraries/attribute_store.h"

namespace memtrace::simulator::cudnn {

// cudnnBackendDescriptorType_t
enum descriptor_kind : int {
  engine_descriptor = 2,
  engine_config_descriptor = 3,
  heuristics_descriptor = 4,
  plan_descriptor = 5,
  operation_graph_descriptor = 15,
};

// cudnnBackendAttributeType_t
enum attribute_type : int {
  type_handle = 0,
  type_data_type = 1,
  type_boolean = 2,
  type_int64 = 3,
  type_double = 5,
  type_void_pointer = 6,
  type_descriptor = 15,
  type_int32 = 23,
  type_char = 24,
  type_fraction = 26,
};

// cudnnBackendAttributeName_t
enum attribute_name : int {
  heuristics_operation_graph = 201,
  heuristics_results = 202,
  config_engine = 300,
  config_workspace_bytes = 303,
  config_shared_memory_bytes = 304,
  plan_engine_config = 401,
  plan_workspace_bytes = 402,
  plan_json = 405,
  engine_operation_graph = 1300,
  engine_global_index = 1301,
  graph_engine_count = 802,
};

// Shared by all descriptors that name it: a program may destroy a descriptor that others hold.
struct descriptor_state {
  int kind = 0;
  bool finalized = false;
  attribute_store values;
  std::map<int, std::vector<std::shared_ptr<descriptor_state>>> children;
};

// cudnnBackendDescriptor_t points to one.
struct backend_descriptor {
  std::shared_ptr<descriptor_state> state;
};

// Bytes of one element; 0 for descriptors, which are not copied as bytes.
[[nodiscard]] std::size_t attribute_bytes(int type);

// The same as the functions of the API, on the state. Results are cudnnStatus_t.
[[nodiscard]] int set_attribute(descriptor_state& state, int name, int type, std::int64_t count,
                                const void* from);
[[nodiscard]] int get_attribute(const descriptor_state& state, int name, int type,
                                std::int64_t requested, std::int64_t* count, void* to);

}  // namespace memtrace::simulator::cudnn
