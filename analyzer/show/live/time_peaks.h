// SPDX-License-Identifier: Apache-2.0
//
// The highest total of each stretch of time, for programs that mark no steps: at most 64 stretches
// of equal length, which doubles when they become too many.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memtrace::live {

class time_peaks {
 public:
  void observe(std::uint64_t time_ns, std::uint64_t bytes) {
    while (time_ns / width_ >= most) halve();
    const auto place = static_cast<std::size_t>(time_ns / width_);
    // Where nothing happened, it stayed as it was.
    if (place >= peaks_.size()) peaks_.resize(place + 1, last_);
    peaks_[place] = std::max(peaks_[place], bytes);
    last_ = bytes;
  }
  [[nodiscard]] const std::vector<std::uint64_t>& peaks() const { return peaks_; }
  [[nodiscard]] std::uint64_t width_ns() const { return width_; }

 private:
  static constexpr std::size_t most = 64;

  void halve() {
    width_ *= 2;
    for (std::size_t i = 0; i < peaks_.size(); i += 2) {
      peaks_[i / 2] = i + 1 < peaks_.size() ? std::max(peaks_[i], peaks_[i + 1]) : peaks_[i];
    }
    peaks_.resize((peaks_.size() + 1) / 2);
  }

  std::uint64_t width_ = 1'000'000;  // ns
  std::uint64_t last_ = 0;
  std::vector<std::uint64_t> peaks_;
};

}  // namespace memtrace::live
