// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/allocator/recorded_driver.h"

#include <algorithm>

namespace memtrace::allocator {

namespace {

[[nodiscard]] bool gives_back(driver_action what) {
  return what == driver_action::freed || what == driver_action::unmapped;
}

[[nodiscard]] const char* words_of(driver_action what) {
  switch (what) {
    case driver_action::allocated:
      return "segment allocated";
    case driver_action::freed:
      return "segment freed";
    case driver_action::refused:
      return "call that was out of memory";
    case driver_action::reserved:
      return "address space reserved";
    case driver_action::mapped:
      return "segment mapped";
    case driver_action::unmapped:
      return "segment unmapped";
  }
  return "call";
}

}  // namespace

void recorded_driver::begin(std::uint32_t request) {
  request_ = request;
  // Answers that earlier requests left may have been somebody else's; end() reports where they were
  // not.
  returns_.clear();
  while (at_ < told_.size() && told_[at_].request < request) ++at_;
}

void recorded_driver::end() {
  if (!returns_.empty()) {
    differ(words_of(returns_.front().what), returns_.front().address, 0, returns_.front().event);
    returns_.clear();
  }
  for (; at_ < told_.size() && told_[at_].request <= request_; ++at_) {
    const auto& left = told_[at_];
    // Calls that may have been somebody else's: only the allocator's own are told of by it.
    if (left.what == driver_action::refused || left.what == driver_action::reserved) continue;
    differ(words_of(left.what), left.address, 0, left.event);
  }
}

const driver_answer* recorded_driver::next() {
  if (!returns_.empty()) {
    differ(words_of(returns_.front().what), returns_.front().address, 0, returns_.front().event);
    returns_.clear();
  }
  return at_ < told_.size() && told_[at_].request == request_ ? &told_[at_] : nullptr;
}

std::optional<std::uint64_t> recorded_driver::allocate(std::uint64_t bytes) {
  ++compared_;
  for (const auto* answer = next(); answer != nullptr; answer = next()) {
    if (answer->what == driver_action::allocated) {
      if (answer->bytes != bytes) differ("segment's size", answer->bytes, bytes, answer->event);
      ++at_;
      return answer->address;
    }
    const bool others = answer->what == driver_action::reserved ||
                        (answer->what == driver_action::refused && answer->bytes != bytes);
    if (!others) {
      if (answer->what != driver_action::refused) break;
      ++at_;
      return std::nullopt;
    }
    ++at_;
  }
  differ("segment allocated", 0, bytes);
  return std::nullopt;
}

std::optional<std::uint64_t> recorded_driver::reserve(std::uint64_t bytes) {
  ++compared_;
  for (const auto* answer = next(); answer != nullptr; answer = next()) {
    if (answer->what == driver_action::reserved && answer->bytes == bytes) {
      ++at_;
      return answer->address;
    }
    // Not told: a new segment is mapped from its beginning.
    if (answer->what == driver_action::mapped) return answer->address;
    if (answer->what != driver_action::reserved && answer->what != driver_action::refused) break;
    ++at_;
  }
  differ("address space reserved", 0, bytes);
  return std::nullopt;
}

bool recorded_driver::map(std::uint64_t address, std::uint64_t bytes, std::uint64_t granule) {
  ++compared_;
  for (const auto* answer = next(); answer != nullptr; answer = next()) {
    if (answer->what == driver_action::mapped) {
      if (answer->address != address) {
        differ("address of what is mapped", answer->address, address, answer->event);
      }
      if (answer->bytes != bytes) differ("bytes mapped", answer->bytes, bytes, answer->event);
      ++at_;
      return true;
    }
    if (answer->what == driver_action::refused && answer->bytes == granule) {
      ++at_;
      return false;
    }
    if (answer->what != driver_action::reserved && answer->what != driver_action::refused) break;
    ++at_;
  }
  differ("segment mapped", 0, address);
  return false;
}

void recorded_driver::free(std::uint64_t address, std::uint64_t bytes) {
  compare_return(driver_action::freed, address, bytes);
}

void recorded_driver::unmap(std::uint64_t address, std::uint64_t bytes) {
  compare_return(driver_action::unmapped, address, bytes);
}

void recorded_driver::compare_return(driver_action what, std::uint64_t address,
                                     std::uint64_t bytes) {
  ++compared_;
  if (returns_.empty()) {
    while (at_ < told_.size() && told_[at_].request == request_ && !gives_back(told_[at_].what) &&
           told_[at_].what != driver_action::allocated &&
           told_[at_].what != driver_action::mapped) {
      ++at_;
    }
    for (; at_ < told_.size() && told_[at_].request == request_ && gives_back(told_[at_].what);
         ++at_) {
      returns_.push_back(told_[at_]);
    }
    std::reverse(returns_.begin(), returns_.end());  // so that the next is the last
  }
  const auto found = std::find_if(returns_.rbegin(), returns_.rend(), [&](const auto& told) {
    return told.what == what && told.address == address;
  });
  if (found == returns_.rend()) {
    differ(words_of(what), 0, address);
    return;
  }
  if (found->bytes != bytes) differ("bytes given back", found->bytes, bytes, found->event);
  returns_.erase(std::next(found).base());
}

void recorded_driver::differ(const char* what, std::uint64_t recorded, std::uint64_t replayed,
                             std::uint64_t event) {
  if (!first_) first_ = difference{event, what, recorded, replayed};
}

}  // namespace memtrace::allocator
