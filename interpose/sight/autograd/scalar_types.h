// SPDX-License-Identifier: Apache-2.0
//
// The type of a tensor's elements: c10::ScalarType (torch/headeronly/core/ScalarType.h), in its
// order. Later versions have more.
#pragma once

#include <cstdint>

namespace memtrace::autograd {

struct scalar_facts {
  const char* name;
  std::uint8_t bytes;
};

inline constexpr scalar_facts scalars[] = {
    {"uint8", 1},           {"int8", 1},
    {"int16", 2},           {"int32", 4},
    {"int64", 8},           {"float16", 2},
    {"float32", 4},         {"float64", 8},
    {"complex32", 4},       {"complex64", 8},
    {"complex128", 16},     {"bool", 1},
    {"qint8", 1},           {"quint8", 1},
    {"qint32", 4},          {"bfloat16", 2},
    {"quint4x2", 1},        {"quint2x4", 1},
    {"bits1x8", 1},         {"bits2x4", 1},
    {"bits4x2", 1},         {"bits8", 1},
    {"bits16", 2},          {"float8_e5m2", 1},
    {"float8_e4m3fn", 1},   {"float8_e5m2fnuz", 1},
    {"float8_e4m3fnuz", 1}, {"uint16", 2},
    {"uint32", 4},          {"uint64", 8},
};

}  // namespace memtrace::autograd
