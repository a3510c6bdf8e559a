// SPDX-License-Identifier: Apache-2.0
//
// Changes of the allocator's settings at run time (torch.cuda.memory._set_allocator_settings):
// recorded in their place, or remembered until there is a recording.
#pragma once

#include <string_view>

#include "interpose/ground/recorder/recorder.h"

namespace memtrace::allocator_settings {

// `refused`: PyTorch threw, and has applied what stands before the fault.
void changed(std::string_view text, bool refused) noexcept;

// When a recording begins: the changes before it.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::allocator_settings
