// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/capture.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <unordered_set>

#include "simulator/core/activity.h"
#include "simulator/core/events.h"

namespace memtrace::simulator {

struct stream_capture {
  std::uint64_t id = 0;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal;
  bool invalid = false;
  stream* origin = nullptr;
  std::thread::id thread;
  graph* into = nullptr;
  bool owns_graph = true;
  // The dependencies of the next node of each stream that takes part.
  std::unordered_map<const stream*, std::vector<graph_node*>> tails;
};

namespace capture {
namespace {

std::mutex lock;
std::vector<std::unique_ptr<stream_capture>>& active() {
  static auto* const all = new std::vector<std::unique_ptr<stream_capture>>;
  return *all;
}
std::atomic<int> active_count{0};
std::uint64_t last_id = 0;
thread_local cudaStreamCaptureMode thread_mode = cudaStreamCaptureModeGlobal;

bool nothing_captured() {
  return active_count.load(std::memory_order_acquire) == 0;
}

void add_once(std::vector<graph_node*>& to, const std::vector<graph_node*>& nodes) {
  for (graph_node* node : nodes) {
    if (std::find(to.begin(), to.end(), node) == to.end()) to.push_back(node);
  }
}

stream_capture* by_id(std::uint64_t id) {
  for (const auto& each : active()) {
    if (each->id == id) return each.get();
  }
  return nullptr;
}

// Every node that those nodes depend on, themselves included.
std::unordered_set<const graph_node*> ancestors(const std::vector<graph_node*>& nodes) {
  std::unordered_set<const graph_node*> seen(nodes.begin(), nodes.end());
  std::vector<const graph_node*> open(nodes.begin(), nodes.end());
  while (!open.empty()) {
    const graph_node* const node = open.back();
    open.pop_back();
    for (const graph_node* before : node->dependencies) {
      if (seen.insert(before).second) open.push_back(before);
    }
  }
  return seen;
}

bool all_joined(const stream_capture& one) {
  const auto joined = ancestors(one.tails.at(one.origin));
  for (const auto& [stream, tail] : one.tails) {
    for (const graph_node* node : tail) {
      if (joined.count(node) == 0) return false;
    }
  }
  return true;
}

void finish(stream_capture& one) {
  for (auto& [member, tail] : one.tails) {
    const_cast<stream*>(member)->capture.store(nullptr, std::memory_order_release);
  }
  const auto found = std::find_if(active().begin(), active().end(),
                                  [&](const auto& each) { return each.get() == &one; });
  active().erase(found);
  active_count.fetch_sub(1, std::memory_order_acq_rel);
}

// A capture with a stream that synchronises with the device's legacy stream.
stream_capture* blocks_legacy(const stream& legacy) {
  for (const auto& each : active()) {
    for (const auto& [member, tail] : each->tails) {
      if (member->blocking && member->device == legacy.device) return each.get();
    }
  }
  return nullptr;
}

void join(stream& joining, stream_capture& one) {
  one.tails.try_emplace(&joining);
  joining.capture.store(&one, std::memory_order_release);
}

}  // namespace

cudaError_t unsafe_call() {
  if (nothing_captured() || thread_mode == cudaStreamCaptureModeRelaxed) return cudaSuccess;
  const std::scoped_lock guard(lock);
  bool prohibited = false;
  for (const auto& each : active()) {
    const bool own = each->thread == std::this_thread::get_id();
    const bool applies = own ? each->mode != cudaStreamCaptureModeRelaxed
                             : each->mode == cudaStreamCaptureModeGlobal &&
                                   thread_mode == cudaStreamCaptureModeGlobal;
    if (!applies) continue;
    each->invalid = true;
    prohibited = true;
  }
  return prohibited ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t device_wide_call(int device) {
  if (nothing_captured()) return cudaSuccess;
  const std::scoped_lock guard(lock);
  bool prohibited = false;
  for (const auto& each : active()) {
    for (const auto& [member, tail] : each->tails) {
      if (member->device != device) continue;
      each->invalid = true;
      prohibited = true;
    }
  }
  return prohibited ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t stream_wait_call(const stream& stream) {
  if (nothing_captured()) return cudaSuccess;
  if (const cudaError_t error = check_use(stream); error != cudaSuccess) return error;
  {
    const std::scoped_lock guard(lock);
    if (stream_capture* const one = stream.capture.load(std::memory_order_acquire)) {
      const bool was_invalid = one->invalid;
      one->invalid = true;
      return was_invalid ? cudaErrorStreamCaptureInvalidated : cudaErrorStreamCaptureUnsupported;
    }
  }
  return unsafe_call();
}

cudaError_t check_use(const stream& stream) {
  if (!stream.legacy || nothing_captured()) return cudaSuccess;
  const std::scoped_lock guard(lock);
  stream_capture* const one = blocks_legacy(stream);
  if (!one) return cudaSuccess;
  one->invalid = true;
  return cudaErrorStreamCaptureImplicit;
}

cudaError_t exchange_mode(cudaStreamCaptureMode& mode) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  std::swap(mode, thread_mode);
  return cudaSuccess;
}

cudaError_t begin(stream& stream, cudaStreamCaptureMode mode, graph* into,
                  std::vector<graph_node*> after) {
  if (mode < cudaStreamCaptureModeGlobal || mode > cudaStreamCaptureModeRelaxed) {
    return cudaErrorInvalidValue;
  }
  if (stream.legacy) return cudaErrorStreamCaptureUnsupported;
  const std::scoped_lock guard(lock);
  if (capturing(stream)) return cudaErrorIllegalState;
  auto one = std::make_unique<stream_capture>();
  one->id = ++last_id;
  one->mode = mode;
  one->origin = &stream;
  one->thread = std::this_thread::get_id();
  one->owns_graph = into == nullptr;
  one->into = into ? into : graphs::create();
  one->tails[&stream] = std::move(after);
  stream.capture.store(one.get(), std::memory_order_release);
  active().push_back(std::move(one));
  active_count.fetch_add(1, std::memory_order_acq_rel);
  return cudaSuccess;
}

cudaError_t end(stream& stream, graph*& result) {
  result = nullptr;
  const std::scoped_lock guard(lock);
  stream_capture* const one = stream.capture.load(std::memory_order_acquire);
  if (!one) return cudaErrorIllegalState;
  if (one->origin != &stream) {
    one->invalid = true;
    return cudaErrorStreamCaptureUnmatched;
  }
  if (one->mode != cudaStreamCaptureModeRelaxed && one->thread != std::this_thread::get_id()) {
    return cudaErrorStreamCaptureWrongThread;
  }
  cudaError_t error = cudaSuccess;
  if (one->invalid) {
    error = cudaErrorStreamCaptureInvalidated;
  } else if (!all_joined(*one)) {
    error = cudaErrorStreamCaptureUnjoined;
  }
  graph* const into = one->into;
  const bool owned = one->owns_graph;
  finish(*one);
  if (error == cudaSuccess) {
    result = into;
  } else if (owned) {
    graphs::destroy(into);
  }
  return error;
}

cudaError_t add(stream& stream, node_content content) {
  const std::scoped_lock guard(lock);
  stream_capture* const one = stream.capture.load(std::memory_order_acquire);
  if (!one || one->invalid) return cudaErrorStreamCaptureInvalidated;
  std::vector<graph_node*>& tail = one->tails[&stream];
  graph_node& node = graphs::add(*one->into, std::move(content), tail);
  tail.assign(1, &node);
  return cudaSuccess;
}

cudaError_t add_kernel(stream& stream) {
  return add(stream, {cudaGraphNodeTypeKernel, clock::kernel, {}, [](simulator::stream& on) {
                        activity::kernel(on);
                      }});
}

cudaError_t inform(const stream& stream, information& result) {
  result = {};
  if (nothing_captured()) return cudaSuccess;
  const std::scoped_lock guard(lock);
  if (stream.legacy && blocks_legacy(stream)) return cudaErrorStreamCaptureImplicit;
  stream_capture* const one = stream.capture.load(std::memory_order_acquire);
  if (!one) return cudaSuccess;
  result.id = one->id;
  result.status = one->invalid ? cudaStreamCaptureStatusInvalidated : cudaStreamCaptureStatusActive;
  if (one->invalid) return cudaSuccess;
  result.into = one->into;
  const std::vector<graph_node*>& tail = one->tails[&stream];
  result.dependencies = reinterpret_cast<const cudaGraphNode_t*>(tail.data());
  result.dependency_count = tail.size();
  return cudaSuccess;
}

cudaError_t update_dependencies(stream& stream, const std::vector<graph_node*>& nodes,
                                bool replace) {
  const std::scoped_lock guard(lock);
  stream_capture* const one = stream.capture.load(std::memory_order_acquire);
  if (!one) return cudaErrorIllegalState;
  if (one->invalid) return cudaErrorStreamCaptureInvalidated;
  std::vector<graph_node*>& tail = one->tails[&stream];
  if (replace) tail.clear();
  add_once(tail, nodes);
  return cudaSuccess;
}

cudaError_t record(stream& stream, event& event) {
  const std::scoped_lock guard(lock);
  stream_capture* const one = stream.capture.load(std::memory_order_acquire);
  if (!one || one->invalid) return cudaErrorStreamCaptureInvalidated;
  event.position = one->tails[&stream];
  event.capture_id.store(one->id, std::memory_order_release);
  event.recorded.store(true, std::memory_order_release);
  return cudaSuccess;
}

cudaError_t wait(stream& stream, const event& event) {
  const std::scoped_lock guard(lock);
  stream_capture* const own = stream.capture.load(std::memory_order_acquire);
  if (own && own->invalid) return cudaErrorStreamCaptureInvalidated;
  const std::uint64_t id = event.capture_id.load(std::memory_order_acquire);
  if (id == 0) {
    if (!event.recorded.load(std::memory_order_acquire)) return cudaSuccess;
    own->invalid = true;
    return cudaErrorStreamCaptureIsolation;
  }
  stream_capture* const other = by_id(id);
  if (!other) return cudaErrorCapturedEvent;
  if (other->invalid) return cudaErrorStreamCaptureInvalidated;
  if (own && own != other) {
    own->invalid = other->invalid = true;
    return cudaErrorStreamCaptureMerge;
  }
  if (stream.legacy) {
    other->invalid = true;
    return cudaErrorStreamCaptureImplicit;
  }
  if (!own) join(stream, *other);
  add_once(other->tails[&stream], event.position);
  return cudaSuccess;
}

cudaError_t captured_event_used(const event& event) {
  const std::scoped_lock guard(lock);
  if (stream_capture* const one = by_id(event.capture_id.load(std::memory_order_acquire))) {
    one->invalid = true;
  }
  return cudaErrorCapturedEvent;
}

void stream_destroyed(stream& stream) {
  if (nothing_captured()) return;
  const std::scoped_lock guard(lock);
  stream_capture* const one = stream.capture.load(std::memory_order_acquire);
  if (!one) return;
  one->invalid = true;
  if (one->origin != &stream) {
    one->tails.erase(&stream);
    stream.capture.store(nullptr, std::memory_order_release);
    return;
  }
  graph* const into = one->into;
  const bool owned = one->owns_graph;
  finish(*one);
  if (owned) graphs::destroy(into);
}

}  // namespace capture
}  // namespace memtrace::simulator
