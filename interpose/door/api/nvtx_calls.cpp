// SPDX-License-Identifier: Apache-2.0
//
// Pushed ranges are phases of their thread. Started ones may overlap and end in another thread:
// beginning and end are recorded with the name, each in the thread it happens in. Marks are
// instants.
#include "interpose/door/api/nvtx_calls.h"

#include <array>
#include <atomic>

#include "interpose/door/api/nvtx_text.h"
#include "interpose/door/api/open_phases.h"
#include "interpose/ground/base/errno_keeper.h"
#include "interpose/ground/session/session.h"

namespace memtrace::nvtx {
namespace {

using format::phase_action;
using format::phase_source;

// The started ranges that have not ended; the oldest are forgotten, and their ends not recorded.
struct started_range {
  std::atomic<std::uint64_t> id{0};
  std::atomic<const names::name*> name{nullptr};
  std::atomic<std::uint32_t> generation{0};  // of the recording that has its beginning
};
constinit std::array<started_range, 512> started;
constinit std::atomic<std::uint64_t> last_id{0};

void record(recorder& to, phase_action action, const names::name* name) noexcept {
  to.phase({.action = action, .source = phase_source::nvtx, .name = names::text_id(to, name)});
}

void mark(const names::name* name) noexcept {
  if (recorder* const to = session::active(); to != nullptr) {
    record(*to, phase_action::instant, name);
  }
}

std::uint64_t start(const names::name* name) noexcept {
  const std::uint64_t id = last_id.fetch_add(1, std::memory_order_relaxed) + 1;
  started_range& range = started[id % started.size()];
  recorder* const to = session::active();
  range.name.store(name, std::memory_order_relaxed);
  range.generation.store(to == nullptr ? 0 : to->generation(), std::memory_order_relaxed);
  range.id.store(id, std::memory_order_release);
  if (to != nullptr) record(*to, phase_action::begin, name);
  return id;
}

void end(std::uint64_t id) noexcept {
  started_range& range = started[id % started.size()];
  const names::name* const name = range.name.load(std::memory_order_relaxed);
  const std::uint32_t generation = range.generation.load(std::memory_order_relaxed);
  if (id == 0 || !range.id.compare_exchange_strong(id, 0, std::memory_order_acq_rel)) return;
  recorder* const to = session::active();
  if (to != nullptr && to->generation() == generation) record(*to, phase_action::end, name);
}

int push(const names::name* name) noexcept {
  open_phases::begin(phase_source::nvtx, name);
  return no_levels;
}

int pop() noexcept {
  open_phases::end(phase_source::nvtx);
  return no_levels;
}

void serve_mark(const handle* domain, const event_attributes* what) {
  const errno_keeper errno_stays;
  if (!is_library(domain)) mark(name_of(domain, what));
}
std::uint64_t serve_start(const handle* domain, const event_attributes* what) {
  const errno_keeper errno_stays;
  return is_library(domain) ? 0 : start(name_of(domain, what));
}
int serve_push(const handle* domain, const event_attributes* what) {
  const errno_keeper errno_stays;
  return is_library(domain) ? no_levels : push(name_of(domain, what));
}
int serve_pop(const handle* domain) {
  const errno_keeper errno_stays;
  return is_library(domain) ? no_levels : pop();
}
void serve_end(const handle*, std::uint64_t id) {
  const errno_keeper errno_stays;
  end(id);
}

template <typename Character>
void serve_plain_mark(const Character* text) {
  const errno_keeper errno_stays;
  mark(name_of(text));
}
template <typename Character>
std::uint64_t serve_plain_start(const Character* text) {
  const errno_keeper errno_stays;
  return start(name_of(text));
}
template <typename Character>
int serve_plain_push(const Character* text) {
  const errno_keeper errno_stays;
  return push(name_of(text));
}
template <typename Character>
const handle* serve_create(const Character* text) {
  const errno_keeper errno_stays;
  return handle_of_domain(name_of(text));
}
template <typename Character>
const handle* serve_register(const handle*, const Character* text) {
  const errno_keeper errno_stays;
  return handle_of(name_of(text));
}

template <typename Function>
served_call without_domain(core_call call, Function* serve) noexcept {
  return {core_module, static_cast<unsigned>(call), reinterpret_cast<function>(serve)};
}
template <typename Function>
served_call with_domain(domain_call call, Function* serve) noexcept {
  return {domains_module, static_cast<unsigned>(call), reinterpret_cast<function>(serve)};
}

const served_call all_calls[] = {
    without_domain(
        core_call::mark_ex, +[](const event_attributes* what) { serve_mark(nullptr, what); }),
    without_domain(core_call::mark_a, &serve_plain_mark<char>),
    without_domain(core_call::mark_w, &serve_plain_mark<wchar_t>),
    without_domain(
        core_call::range_start_ex,
        +[](const event_attributes* what) { return serve_start(nullptr, what); }),
    without_domain(core_call::range_start_a, &serve_plain_start<char>),
    without_domain(core_call::range_start_w, &serve_plain_start<wchar_t>),
    without_domain(
        core_call::range_end, +[](std::uint64_t id) { serve_end(nullptr, id); }),
    without_domain(
        core_call::range_push_ex,
        +[](const event_attributes* what) { return serve_push(nullptr, what); }),
    without_domain(core_call::range_push_a, &serve_plain_push<char>),
    without_domain(core_call::range_push_w, &serve_plain_push<wchar_t>),
    without_domain(
        core_call::range_pop, +[] { return serve_pop(nullptr); }),
    with_domain(domain_call::mark_ex, &serve_mark),
    with_domain(domain_call::range_start_ex, &serve_start),
    with_domain(domain_call::range_end, &serve_end),
    with_domain(domain_call::range_push_ex, &serve_push),
    with_domain(domain_call::range_pop, &serve_pop),
    with_domain(domain_call::register_string_a, &serve_register<char>),
    with_domain(domain_call::register_string_w, &serve_register<wchar_t>),
    with_domain(domain_call::create_a, &serve_create<char>),
    with_domain(domain_call::create_w, &serve_create<wchar_t>),
};

}  // namespace

std::span<const served_call> served_calls() noexcept {
  return all_calls;
}

}  // namespace memtrace::nvtx
