// SPDX-License-Identifier: Apache-2.0
//
// Python's objects and PyTorch's tensors, by the names that the agent uses for them.
#pragma once

#include "interpose/sight/autograd/tensor_storages.h"
#include "interpose/sight/python/python_values.h"

namespace memtrace::agent {

using autograd::for_each_storage;
using autograd::gpu_storage;
using autograd::is_tensor;
using python_stack::find_python_functions;
using python_stack::interned;
using python_stack::is_list;
using python_stack::is_tuple;
using python_stack::none;
using python_stack::py;
using python_stack::python_api;
using python_stack::python_functions;
using python_stack::reference;
using python_stack::text_of;

}  // namespace memtrace::agent
