// SPDX-License-Identifier: Apache-2.0
//
// Changes of the allocator's settings at run time (torch.cuda.memory._set_allocator_settings):
// recorded in their place, or remembered until there is a recording.
#pragma once

#include <string_view>

#include "interpose/recorder/recorder.h"

namespace memtrace::allocator_settings {

void changed(std::string_view text) noexcept;

// When a recording begins: the settings that hold then, if they are not the environment's.
void record_earlier(recorder& to) noexcept;

}  // namespace memtrace::allocator_settings
