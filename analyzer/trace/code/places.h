// SPDX-License-Identifier: Apache-2.0
//
// A stack of frames as a person names it: the innermost line that tells something.
//
//   torch/nn/modules/linear.py:134 Linear.forward   ┐ passed over: PyTorch's
//   torch/nn/modules/module.py:1775 _call_impl      ┘
//   model.py:31 forward     ◄── telling_frame, short_place: "model.py:31 forward"
//   train.py:88 main        ◄── innermost_user, where the line above is a library's:
//                               describe_place: "model.py:31 forward from train.py:88 main"
//
// Frames are innermost first, as frames_of() gives them.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/trace/code/frames.h"

namespace memtrace::code {

// Null: there is none.
[[nodiscard]] const source_frame* innermost_user(std::span<const source_frame> frames);
[[nodiscard]] const source_frame* telling_frame(std::span<const source_frame> frames);

// "model.py:31 forward", with so many last components of the file's path.
[[nodiscard]] std::string place_of(const source_frame& frame, unsigned parts);
// As PyTorch names the threads of its autograd engine.
[[nodiscard]] bool is_of_autograd(std::string_view thread);
// The words for a place without a telling frame: "backward pass (forward line not known)".
[[nodiscard]] std::string place_without_user(const std::vector<source_frame>& frames,
                                             const std::string& thread);
// How many last components of its path each file needs to differ from the others.
[[nodiscard]] std::map<std::string_view, unsigned> needed_parts(
    const std::set<std::string_view>& files);

// A stack in a few words; with the user's line that led there, or without.
[[nodiscard]] std::string describe_place(const std::vector<source_frame>& frames,
                                         const std::string& thread);
[[nodiscard]] std::string short_place(const std::vector<source_frame>& frames,
                                      const std::string& thread);

// "backward of model.py:31 forward" where a backward pass asked that runs no Python of its own.
[[nodiscard]] std::string place_of_request(const std::vector<source_frame>& frames,
                                           const std::vector<source_frame>& forward,
                                           const std::string& thread);

}  // namespace memtrace::code
