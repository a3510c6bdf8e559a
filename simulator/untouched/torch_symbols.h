// SPDX-License-Identifier: Apache-2.0
//
// The mangled names of what is taken over of PyTorch, from 2.5 or so on (std::optional), and as
// strings.
#pragma once

#define MEMTRACE_NAME_AGAIN(name) #name
#define MEMTRACE_NAME_OF(macro) MEMTRACE_NAME_AGAIN(macro)

// at::_ops::X_::call(Tensor&, double, double, optional<Generator>), by which programs and PyTorch's
// own functions ask for it
#define TORCH_CALL_NORMAL _ZN2at4_ops7normal_4callERNS_6TensorEddSt8optionalINS_9GeneratorEE
#define TORCH_CALL_UNIFORM _ZN2at4_ops8uniform_4callERNS_6TensorEddSt8optionalINS_9GeneratorEE
// at::native::X_, which fills
#define TORCH_NORMAL _ZN2at6native7normal_ERNS_6TensorEddSt8optionalINS_9GeneratorEE
#define TORCH_UNIFORM _ZN2at6native8uniform_ERNS_6TensorEddSt8optionalINS_9GeneratorEE
// at::native::zero_(Tensor&), copy_(Tensor&, const Tensor&, bool)
#define TORCH_ZERO _ZN2at6native5zero_ERNS_6TensorE
#define TORCH_COPY _ZN2at6native5copy_ERNS_6TensorERKS1_b
// at::native::structured_X::impl(…, const Tensor& out), of erfinv, mul, add and clamp
#define TORCH_ERFINV _ZN2at6native21structured_erfinv_out4implERKNS_6TensorES4_
#define TORCH_MUL _ZN2at6native18structured_mul_out4implERKNS_6TensorES4_S4_
#define TORCH_ADD _ZN2at6native24structured_ufunc_add_CPU4implERKNS_6TensorES4_RKN3c106ScalarES4_
#define TORCH_CLAMP \
  _ZN2at6native20structured_clamp_out4implERKNS_6TensorEN3c1011OptionalRefINS5_6ScalarEEES8_S4_
// at::CPUGeneratorImpl::engine() and set_engine(mt19937), at::detail::getDefaultCPUGenerator()
#define TORCH_ENGINE _ZN2at16CPUGeneratorImpl6engineEv
#define TORCH_SET_ENGINE _ZN2at16CPUGeneratorImpl10set_engineENS_14mt19937_engineE
#define TORCH_DEFAULT_GENERATOR _ZN2at6detail22getDefaultCPUGeneratorEv
