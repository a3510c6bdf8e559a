// SPDX-License-Identifier: Apache-2.0
//
// The allocator options that a replay tries: those asked for, or the usual ones.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/allocator/settings.h"

namespace memtrace::what_if {

struct option_to_try {
  std::string text;
  allocator::settings settings;
};

struct options_to_try {
  std::vector<option_to_try> options;
  std::string refusal;  // of the first that PyTorch refuses, in its words; empty: none
};

// `asked` empty: options that help some programs, as far as that version of PyTorch knows them.
[[nodiscard]] options_to_try choose_options(const std::vector<std::string>& asked,
                                            std::string_view torch_version);

}  // namespace memtrace::what_if
