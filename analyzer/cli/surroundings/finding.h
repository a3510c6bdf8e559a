// SPDX-License-Identifier: Apache-2.0
//
// What memtrace found in the surroundings of a program before it starts it.
#pragma once

#include <string>
#include <vector>

namespace memtrace::cli::surroundings {

enum class effect {
  none,     // all is recorded, as far as this goes
  lacks,    // the recording goes without something
  nothing,  // nothing is recorded
};

struct finding {
  std::string topic;  // "Python", "PyTorch", … one word for the doctor's first column
  effect on_recording = effect::none;
  std::string said;  // what there is, and with lacks and nothing what it means and what helps
};

using findings = std::vector<finding>;

}  // namespace memtrace::cli::surroundings
