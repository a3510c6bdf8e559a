// SPDX-License-Identifier: Apache-2.0
//
// What happened at single moments of a run: at most so many of a kind, evenly over the whole run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace memtrace::history {

struct mark {
  enum class kind : std::uint8_t { out_of_memory, retry, empty_cache, census };
  kind what{};
  std::uint64_t event = 0;
  std::uint64_t time_ns = 0;
  std::uint64_t bytes = 0;  // out_of_memory: requested; retry: reserved after it; else 0
  std::string text;         // census: why
};

// The first and the last are among them: a run often ends by running out of memory.
class even_marks {
 public:
  explicit even_marks(std::size_t most) : most_(most < 2 ? 2 : most) {}

  void add(mark one) {
    if (seen_++ % stride_ != 0) {
      last_ = std::move(one);
      return;
    }
    last_.reset();
    kept_.push_back(std::move(one));
    if (kept_.size() >= most_) halve();
  }
  [[nodiscard]] std::uint64_t seen() const { return seen_; }
  // In their order.
  [[nodiscard]] std::vector<mark> take() {
    if (last_) kept_.push_back(*std::exchange(last_, std::nullopt));
    return std::exchange(kept_, {});
  }

 private:
  void halve() {
    if (kept_.size() % 2 == 0) last_ = kept_.back();
    for (std::size_t i = 2; i < kept_.size(); i += 2) kept_[i / 2] = std::move(kept_[i]);
    kept_.resize((kept_.size() + 1) / 2);
    stride_ *= 2;
  }

  std::size_t most_;
  std::uint64_t seen_ = 0;
  std::uint64_t stride_ = 1;
  std::vector<mark> kept_;    // each stride-th
  std::optional<mark> last_;  // where it is none of them
};

}  // namespace memtrace::history
