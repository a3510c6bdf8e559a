// SPDX-License-Identifier: Apache-2.0
//
// The mangled names of what is intercepted of autograd, as rows of hooks.def and as functions.
#pragma once

// torch::autograd::Engine::execute, Engine::evaluate_function
#define AUTOGRAD_EXECUTE \
  _ZN5torch8autograd6Engine7executeERKSt6vectorINS0_4EdgeESaIS3_EERKS2_IN2at6TensorESaIS9_EEbbbS7_
#define AUTOGRAD_EVALUATE \
  _ZN5torch8autograd6Engine17evaluate_functionERSt10shared_ptrINS0_9GraphTaskEEPNS0_4NodeERNS0_11InputBufferERKS2_INS0_10ReadyQueueEE
// at::sequence_number::get_and_increment
#define AUTOGRAD_SEQUENCE _ZN2at15sequence_number17get_and_incrementEv
// torch::autograd::SavedVariable::SavedVariable(Tensor const&, bool, bool), which the one for
// optional tensors calls
#define AUTOGRAD_SAVED _ZN5torch8autograd13SavedVariableC1ERKN2at6TensorEbb
// at::autocast::cached_cast
#define AUTOGRAD_CAST _ZN2at8autocast11cached_castEN3c1010ScalarTypeERKNS_6TensorENS1_10DeviceTypeE
// at::autocast::set_autocast_enabled, from 2.4 on
#define AUTOGRAD_SET_AUTOCAST _ZN2at8autocast20set_autocast_enabledEN3c1010DeviceTypeEb
