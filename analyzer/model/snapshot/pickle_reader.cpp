// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/snapshot/pickle_reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "memtrace/trace_format.h"

namespace memtrace::snapshot {

namespace {

// Beyond what any snapshot has: at most so many values wait on the stack for their list, and lists
// and dictionaries are nested so deep.
constexpr std::size_t most_waiting = std::size_t{1} << 26;
constexpr std::size_t deepest = 1000;
constexpr std::uint64_t most_numbered = std::uint64_t{1} << 29;
constexpr std::uint64_t widest_gap = 1000;  // in the memo's numbers, which count up
constexpr std::uint64_t progress_every = std::uint64_t{1} << 20;

// How a value is kept in the memo: its kind in the upper bits. Large numbers and the like are not
// kept, since Python does not number them.
constexpr unsigned kind_shift = 29;
constexpr std::uint32_t kept_object = 0;
constexpr std::uint32_t kept_text = 1;
constexpr std::uint32_t kept_pair = 2;
constexpr std::uint32_t kept_opaque = 3;
constexpr std::uint32_t kept_nothing = 4;  // no value has this number
constexpr std::uint32_t in_contents = 5;   // an event, block or segment: to be named once

[[nodiscard]] std::uint32_t kept(const value& one) {
  const auto bits = static_cast<std::uint32_t>(one.bits);
  switch (one.kind) {
    case value_kind::object:
      return kept_object << kind_shift | bits;
    case value_kind::text:
      return kept_text << kind_shift | bits;
    case value_kind::pair:
      return kept_pair << kind_shift | bits;
    default:
      return kept_opaque << kind_shift;
  }
}

}  // namespace

pickle_reader::pickle_reader(trace::byte_source& source, contents& to)
    : to_(to), from_(source), shapes_(to) {}

bool pickle_reader::damaged(std::string what) {
  failure_ = trace::error{trace::error_code::corrupt_snapshot, opcode_at_,
                          fmt::format("is a damaged pickle: at offset {} {}; copy it again, or "
                                      "take the snapshot again",
                                      opcode_at_, what)};
  return false;
}

bool pickle_reader::cut_off() {
  const auto end = from_.position() + from_.left();
  failure_ = trace::error{trace::error_code::corrupt_snapshot, end,
                          fmt::format("is cut off at offset {}, before the end of the pickle; copy "
                                      "it again, or take the snapshot again",
                                      end)};
  return false;
}

bool pickle_reader::no_snapshot(std::string what) {
  failure_ = trace::error{
      trace::error_code::not_a_snapshot, opcode_at_,
      fmt::format("is a pickle, but no memory snapshot: {}; {}", what, how_to_make_one)};
  return false;
}

bool pickle_reader::push(const value& one) {
  if (stack_.size() == most_waiting) return damaged("is more in one list than a snapshot can have");
  stack_.push_back(one);
  return true;
}

bool pickle_reader::push_text(std::uint64_t bytes) {
  if (bytes > from_.left()) {
    return damaged(fmt::format("is a text of {} bytes, and the file ends before that", bytes));
  }
  const auto words = from_.text(bytes, format::max_text_bytes);
  return push({value_kind::text, to_.known.text(words)});
}

// Python's whole numbers of any size; PyTorch's have at most 64 bits.
bool pickle_reader::push_long(std::uint64_t bytes) {
  constexpr unsigned most = sizeof(std::uint64_t);
  if (bytes > from_.left()) {
    return damaged(fmt::format("is a number of {} bytes, and the file ends before that", bytes));
  }
  const auto low = static_cast<unsigned>(std::min<std::uint64_t>(bytes, most));
  auto number = from_.number(low);
  if (bytes <= most) {
    const unsigned bits = low * 8;
    const bool negative = bits != 0 && (number >> (bits - 1)) != 0;
    if (negative && bits < 64) number |= ~std::uint64_t{0} << bits;
    return push({value_kind::integer, number});
  }
  const bool fits = bytes == most + 1 && from_.byte() == 0;
  if (bytes != most + 1) from_.skip(bytes - most);
  return push({fits ? value_kind::integer : value_kind::opaque, number});
}

bool pickle_reader::push_object(shape what) {
  std::uint32_t number = 0;
  if (free_objects_.empty()) {
    if (objects_.size() == most_numbered) return damaged("are more lists than a snapshot can have");
    number = static_cast<std::uint32_t>(objects_.size());
    objects_.emplace_back();
  } else {
    number = free_objects_.back();
    free_objects_.pop_back();
  }
  objects_[number] = {};
  objects_[number].what = what;
  return push({value_kind::object, number});
}

bool pickle_reader::push_tuple(std::size_t items) {
  if (stack_.size() < items || (!marks_.empty() && stack_.size() - items < marks_.back())) {
    return damaged("is a tuple of more than is there");
  }
  const auto first = stack_.size() - items;
  const auto made = items == 2 ? shapes_.pair(stack_[first], stack_[first + 1]) : value{};
  stack_.resize(first);
  return push(made);
}

bool pickle_reader::put(std::uint64_t place) {
  if (stack_.empty()) return damaged("nothing is there to be numbered");
  if (place > puts_ + widest_gap || place >= most_numbered) {
    return damaged(fmt::format("is the number {}, which does not follow", place));
  }
  ++puts_;
  if (place >= memo_.size()) {
    memo_.resize(static_cast<std::size_t>(place) + 1, kept_nothing << kind_shift);
  }
  memo_[place] = kept(stack_.back());
  if (auto* const itself = object_at(stack_.size() - 1)) {
    itself->memo = static_cast<std::uint32_t>(place) + 1;
  }
  return true;
}

bool pickle_reader::get(std::uint64_t place) {
  const auto bits = place < memo_.size() ? memo_[place] : kept_nothing << kind_shift;
  const std::uint64_t number = bits & ((1u << kind_shift) - 1);
  switch (bits >> kind_shift) {
    case kept_object:
      return push({value_kind::object, number});
    case kept_text:
      return push({value_kind::text, number});
    case kept_pair:
      return push({value_kind::pair, number});
    case kept_opaque:
      return push({});
    case in_contents:
      return damaged("is an event or block that was there before");
    default:
      return damaged(fmt::format("is the number {}, and nothing has it", place));
  }
}

object* pickle_reader::object_at(std::size_t place) {
  const auto& one = stack_[place];
  return one.kind == value_kind::object ? &objects_[one.bits] : nullptr;
}

bool pickle_reader::after_mark(std::size_t& place) {
  if (marks_.empty() || marks_.back() == 0 || marks_.back() > stack_.size()) {
    return damaged("is an end without a beginning");
  }
  place = marks_.back() - 1;
  marks_.pop_back();
  return true;
}

bool pickle_reader::is_fine(shapes::outcome what) {
  switch (what) {
    case shapes::outcome::fine:
      return true;
    case shapes::outcome::scattered:
      return damaged("is a list of things of different kinds, or of one thing twice");
    case shapes::outcome::too_many:
      return damaged("are more settings than PyTorch has");
    case shapes::outcome::not_written:
      break;
  }
  failure_ = trace::error{
      trace::error_code::io_error, opcode_at_,
      fmt::format("needs room for its events, and TMPDIR has none: {}", std::strerror(errno))};
  return false;
}

bool pickle_reader::append(std::size_t container) {
  auto* const list = object_at(container);
  if (list == nullptr) return damaged("something is appended to what is no list");
  const auto items = std::span<const value>(stack_).subspan(container + 1);
  if (!is_fine(shapes_.list(items, *list, objects_))) return false;
  stack_.resize(container + 1);
  return true;
}

bool pickle_reader::set(std::size_t container) {
  auto* const itself = object_at(container);
  const auto items = std::span<const value>(stack_).subspan(container + 1);
  const bool is_dict = itself != nullptr && itself->what != shape::list;
  if (!is_dict || items.size() % 2 != 0) return damaged("is no dictionary with its values");
  value made{value_kind::object, stack_[container].bits};
  shapes_.refer_to(objects_);
  if (!is_fine(shapes_.dict(items, *itself, made))) return false;
  if (made.kind != value_kind::object) {
    if (itself->memo != 0) memo_[itself->memo - 1] = in_contents << kind_shift;
    free_objects_.push_back(static_cast<std::uint32_t>(stack_[container].bits));
  }
  stack_[container] = made;
  stack_.resize(container + 1);
  return true;
}

// The name that Python would look up says whose file it is.
bool pickle_reader::refuse(std::uint8_t code) {
  const auto* const found = std::ranges::find(calling_opcodes, code, &refused_opcode::code);
  if (found == calling_opcodes.end()) {
    return no_snapshot(
        fmt::format("at offset {} is opcode {:#04x}, which no snapshot has", opcode_at_, code));
  }
  std::string module;
  if (code == 'c') {
    constexpr std::size_t longest = 100;
    for (auto letter = from_.byte(); letter != '\n' && from_.ok() && module.size() < longest;) {
      module.push_back(static_cast<char>(letter));
      letter = from_.byte();
    }
  } else if (code == 0x93 && stack_.size() >= 2 &&
             stack_[stack_.size() - 2].kind == value_kind::text) {
    module = to_.known.text_of(static_cast<std::uint32_t>(stack_[stack_.size() - 2].bits));
  }
  if (module.starts_with("torch")) {
    return no_snapshot(
        fmt::format("at offset {} it holds tensors or modules, as a model's "
                    "checkpoint does (torch.save)",
                    opcode_at_));
  }
  return no_snapshot(
      fmt::format("at offset {} it asks Python to run something ({}), and memtrace "
                  "runs nothing that a file names",
                  opcode_at_, found->name));
}

bool pickle_reader::step(std::uint8_t code) {
  std::size_t place = 0;
  switch (static_cast<opcode>(code)) {
    case opcode::binget:
      return get(from_.byte());
    case opcode::long_binget:
      return get(from_.number(4));
    case opcode::memoize:
      return put(puts_);
    case opcode::binput:
      return put(from_.byte());
    case opcode::long_binput:
      return put(from_.number(4));
    case opcode::binint1:
      return push({value_kind::integer, from_.number(1)});
    case opcode::binint2:
      return push({value_kind::integer, from_.number(2)});
    case opcode::binint:
      return push({value_kind::integer,
                   static_cast<std::uint64_t>(static_cast<std::int64_t>(
                       static_cast<std::int32_t>(static_cast<std::uint32_t>(from_.number(4)))))});
    case opcode::long1:
      return push_long(from_.byte());
    case opcode::long4:
      return push_long(from_.number(4));
    case opcode::binfloat: {
      std::uint64_t bits = 0;
      for (int i = 0; i < 8; ++i) bits = bits << 8 | from_.byte();
      return push({value_kind::real, bits});
    }
    case opcode::none:
      return push({value_kind::none});
    case opcode::newtrue:
      return push({value_kind::boolean, 1});
    case opcode::newfalse:
      return push({value_kind::boolean, 0});
    case opcode::short_binunicode:
      return push_text(from_.byte());
    case opcode::binunicode:
      return push_text(from_.number(4));
    case opcode::binunicode8:
      return push_text(from_.number(8));
    case opcode::empty_list:
      return push_object(shape::list);
    case opcode::empty_dict:
      return push_object(shape::dict);
    case opcode::empty_tuple:
      return push({});
    case opcode::tuple1:
      return push_tuple(1);
    case opcode::tuple2:
      return push_tuple(2);
    case opcode::tuple3:
      return push_tuple(3);
    case opcode::tuple:
      if (marks_.empty() || marks_.back() > stack_.size()) {
        return damaged("is an end without a beginning");
      }
      place = marks_.back();
      marks_.pop_back();
      return push_tuple(stack_.size() - place);
    case opcode::mark:
      if (marks_.size() == deepest) return damaged("is nested deeper than a snapshot can be");
      marks_.push_back(stack_.size());
      return true;
    case opcode::append:
      if (stack_.size() < 2) return damaged("is nothing to append");
      return append(stack_.size() - 2);
    case opcode::appends:
      return after_mark(place) && append(place);
    case opcode::setitem:
      if (stack_.size() < 3) return damaged("is no dictionary with its values");
      return set(stack_.size() - 3);
    case opcode::setitems:
      return after_mark(place) && set(place);
    case opcode::frame:
      return from_.number(8) <= from_.left() || cut_off();
    case opcode::proto:
      (void)from_.byte();
      return true;
    case opcode::stop:
      return false;
  }
  return refuse(code);
}

trace::status pickle_reader::read(const on_progress_t& on_progress) {
  std::uint64_t told = 0;
  for (;;) {
    opcode_at_ = from_.position();
    const auto code = from_.byte();
    if (!from_.ok()) break;
    if (!step(code)) {
      if (failure_ || code == static_cast<std::uint8_t>(opcode::stop)) break;
    }
    if (!from_.ok()) break;
    if (on_progress && opcode_at_ >= told + progress_every) {
      told = opcode_at_;
      on_progress(told, told + from_.left());
    }
  }
  if (failure_) return failure_;
  if (!from_.ok()) {
    (void)cut_off();
    return failure_;
  }
  if (stack_.empty() || !shapes_.finish(stack_.back(), objects_)) {
    (void)no_snapshot("it has no segments and no device_traces");
    return failure_;
  }
  if (!to_.events.finish()) (void)is_fine(shapes::outcome::not_written);
  return failure_;
}

}  // namespace memtrace::snapshot
