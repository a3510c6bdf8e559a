// SPDX-License-Identifier: Apache-2.0
#include "interpose/sight/heap_scan/node_contents.h"

#include <algorithm>

#include "interpose/sight/autograd/tensor_layout.h"

namespace memtrace::heap_scan {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);
constexpr std::size_t chunk_words = 4096 / word_bytes;
constexpr std::uint64_t longest_array = 64u << 10;
// A SavedVariable, in words; anything between is not known to be saved.
constexpr std::size_t least_element = 8;
constexpr std::size_t largest_element = 32;
// Bytes of a TensorImpl in any version; all that is read of one lies within.
constexpr std::size_t tensor_words = 24;

// C++ objects are on the heap, 16 bytes apart.
bool may_be_object(std::uint64_t word) noexcept {
  return word % 16 == 0 && word > (1u << 16) && word < (std::uint64_t{1} << 47);
}

bool may_be_array(std::uint64_t begin, std::uint64_t end, std::uint64_t capacity) noexcept {
  return may_be_object(begin) && begin < end && end <= capacity && end - begin <= longest_array &&
         (end - begin) % word_bytes == 0;
}

bool is_undefined(std::uint64_t word) noexcept {
  return autograd::is_the_undefined(reinterpret_cast<const void*>(word));
}

}  // namespace

// Behind its functions a TensorImpl has its reference count, 0 once it is gone: what was freed may
// keep its other words.
bool node_contents::is_tensor(std::uint64_t word) const noexcept {
  if (!may_be_object(word)) return false;
  std::uint64_t words[tensor_words];
  return memory_.copy(word, words, sizeof words) && words[0] == tensor_functions_ &&
         static_cast<std::uint32_t>(words[1]) != 0;
}

bool node_contents::is_array_of(std::size_t element_words) const {
  for (std::size_t i = 0; i < array_.size(); i += element_words) {
    const bool is_one = array_[i] != 0 && (is_undefined(array_[i]) || is_tensor(array_[i]));
    if (!is_one) return false;
  }
  return true;
}

bool node_contents::copy(std::uint64_t from, std::vector<std::uint64_t>& to) const noexcept {
  for (std::size_t at = 0; at < to.size(); at += chunk_words) {
    const std::size_t count = std::min(to.size() - at, chunk_words);
    if (!memory_.copy(from + at * word_bytes, to.data() + at, count * word_bytes)) return false;
  }
  return true;
}

// Three words that look like an array need not be one. That its elements, all of one size, begin
// with tensors does not happen by chance.
bool node_contents::read_array(std::uint64_t begin, std::uint64_t end) {
  array_.resize((end - begin) / word_bytes);
  if (!copy(begin, array_)) return false;
  for (std::size_t words = 1; words <= std::min(array_.size(), largest_element); ++words) {
    if (array_.size() % words != 0 || (words > 1 && words < least_element)) continue;
    if (!is_array_of(words)) continue;
    for (std::size_t i = 0; i < array_.size(); i += words) {
      if (is_undefined(array_[i])) continue;
      found_.push_back(reinterpret_cast<const void*>(array_[i]));
    }
    return true;
  }
  return false;
}

void node_contents::learn(content& known, const std::uint64_t* words, std::size_t left) {
  const std::uint64_t word = words[0];
  if (!may_be_object(word)) return;  // perhaps next time
  if (is_undefined(word) || is_tensor(word)) {
    known = content::tensor;
    return;
  }
  const bool is_array =
      left >= 3 && may_be_array(word, words[1], words[2]) && read_array(word, words[1]);
  known = is_array ? content::array : content::other;
}

const std::vector<const void*>& node_contents::tensors(const void* its_class, const void* begin,
                                                       std::size_t bytes) {
  found_.clear();
  std::vector<content>& places = classes_[its_class];
  const std::size_t count = bytes / word_bytes;
  if (places.size() < count) places.resize(count);
  words_.resize(count);
  if (!copy(reinterpret_cast<std::uint64_t>(begin), words_)) return found_;
  const std::uint64_t* const words = words_.data();
  for (std::size_t i = 0; i < count; ++i) {
    content& known = places[i];
    if (words[i] == 0 || known == content::other) continue;
    if (known == content::unknown) {
      const std::size_t before = found_.size();
      learn(known, words + i, count - i);
      if (found_.size() != before) continue;
    }
    if (known == content::tensor) {
      if (is_undefined(words[i]) || !is_tensor(words[i])) continue;
      found_.push_back(reinterpret_cast<const void*>(words[i]));
    } else if (known == content::array && count - i >= 3 &&
               may_be_array(words[i], words[i + 1], words[i + 2])) {
      read_array(words[i], words[i + 1]);
    }
  }
  return found_;
}

}  // namespace memtrace::heap_scan
