// SPDX-License-Identifier: Apache-2.0
#include "simulator/core/graphs.h"

#include <algorithm>
#include <mutex>
#include <unordered_set>

#include "simulator/core/capture.h"
#include "simulator/core/events.h"
#include "simulator/core/graph_memory.h"

namespace memtrace::simulator::graphs {
namespace {

// Handles in use, so that a stale one is an error and not a crash. Never destroyed: programs may
// destroy graphs while the process exits.
struct registry {
  std::mutex lock;
  std::unordered_set<const void*> handles;

  void add(const void* one) {
    const std::scoped_lock guard(lock);
    handles.insert(one);
  }
  void remove(const void* one) {
    const std::scoped_lock guard(lock);
    handles.erase(one);
  }
  bool has(const void* one) {
    const std::scoped_lock guard(lock);
    return handles.count(one) != 0;
  }
};

registry& live() {
  static registry* const one = new registry;
  return *one;
}

void forget_nodes(graph& one) {
  for (const auto& node : one.nodes) live().remove(node.get());
}

// Applies a launch to memory. With auto-free what the last launch left is freed first.
std::vector<graph_memory::step> memory_steps(const graph_exec& exec) {
  std::vector<graph_memory::step> steps;
  for (const graph_node* node : exec.order) {
    if (exec.disabled.count(node) != 0) continue;
    const node_parameters& what = node->content.parameters;
    if (const auto* memory = std::get_if<cudaMemAllocNodeParams>(&what)) {
      const auto address = reinterpret_cast<address_t>(memory->dptr);
      const bool left = graph_memory::live(address);
      if (left && (exec.flags & cudaGraphInstantiateFlagAutoFreeOnLaunch) != 0) {
        steps.push_back({address, false});
      }
      steps.push_back({address, true});
    } else if (const auto* freed = std::get_if<freed_memory>(&what)) {
      steps.push_back({freed->address, false});
    }
  }
  return steps;
}

std::unique_ptr<graph> copy(const graph& from,
                            std::unordered_map<const graph_node*, graph_node*>& copies) {
  auto to = std::make_unique<graph>();
  for (const auto& node : from.nodes) {
    auto twin = std::make_unique<graph_node>();
    twin->owner = to.get();
    twin->content = node->content;
    copies[node.get()] = twin.get();
    to->nodes.push_back(std::move(twin));
  }
  for (const auto& node : from.nodes) {
    for (graph_node* before : node->dependencies) {
      copies[node.get()]->dependencies.push_back(copies.at(before));
    }
  }
  return to;
}

// Each node after all it depends on, otherwise in the order added; shorter if there is a circle.
std::vector<graph_node*> ordered(const graph& one) {
  std::unordered_map<const graph_node*, std::size_t> waiting;
  std::unordered_map<const graph_node*, std::vector<graph_node*>> followers;
  std::vector<graph_node*> order;
  order.reserve(one.nodes.size());
  for (const auto& node : one.nodes) {
    waiting[node.get()] = node->dependencies.size();
    for (const graph_node* before : node->dependencies) followers[before].push_back(node.get());
    if (node->dependencies.empty()) order.push_back(node.get());
  }
  for (std::size_t next = 0; next < order.size(); ++next) {
    for (graph_node* node : followers[order[next]]) {
      if (--waiting[node] == 0) order.push_back(node);
    }
  }
  return order;
}

bool same_shape(const graph& a, const graph& b, graph_node*& mismatch) {
  std::unordered_map<const graph_node*, std::size_t> place_a;
  std::unordered_map<const graph_node*, std::size_t> place_b;
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    place_a[a.nodes[i].get()] = i;
    place_b[b.nodes[i].get()] = i;
  }
  for (std::size_t i = 0; i < a.nodes.size(); ++i) {
    const graph_node& left = *a.nodes[i];
    const graph_node& right = *b.nodes[i];
    bool same = left.content.type == right.content.type &&
                left.dependencies.size() == right.dependencies.size();
    for (std::size_t d = 0; same && d < left.dependencies.size(); ++d) {
      same = place_a.at(left.dependencies[d]) == place_b.at(right.dependencies[d]);
    }
    if (!same) {
      mismatch = b.nodes[i].get();
      return false;
    }
  }
  return true;
}

}  // namespace

graph* find(cudaGraph_t handle) {
  return live().has(handle) ? reinterpret_cast<graph*>(handle) : nullptr;
}
graph_node* find(cudaGraphNode_t handle) {
  return live().has(handle) ? reinterpret_cast<graph_node*>(handle) : nullptr;
}
graph_exec* find(cudaGraphExec_t handle) {
  return live().has(handle) ? reinterpret_cast<graph_exec*>(handle) : nullptr;
}

graph* create() {
  auto* const one = new graph;
  live().add(one);
  return one;
}

void destroy(graph* one) {
  forget_nodes(*one);
  live().remove(one);
  delete one;
}

graph* clone(const graph& from) {
  std::unordered_map<const graph_node*, graph_node*> copies;
  graph* const to = copy(from, copies).release();
  live().add(to);
  for (const auto& node : to->nodes) live().add(node.get());
  to->clones = std::move(copies);
  return to;
}

graph_node& add(graph& to, node_content content, std::vector<graph_node*> dependencies) {
  auto node = std::make_unique<graph_node>();
  node->owner = &to;
  node->content = std::move(content);
  node->dependencies = std::move(dependencies);
  live().add(node.get());
  return *to.nodes.emplace_back(std::move(node));
}

cudaError_t add_by_handle(cudaGraphNode_t* result, cudaGraph_t to,
                          const cudaGraphNode_t* dependencies, std::size_t count,
                          node_content content) {
  graph* const known = find(to);
  if (!known || !result || (count > 0 && !dependencies)) return cudaErrorInvalidValue;
  std::vector<graph_node*> after;
  for (std::size_t i = 0; i < count; ++i) {
    after.push_back(find(dependencies[i]));
    if (!after.back() || after.back()->owner != known) return cudaErrorInvalidValue;
  }
  *result = handle(&add(*known, std::move(content), std::move(after)));
  return cudaSuccess;
}

void remove(graph_node& node) {
  graph& owner = *node.owner;
  for (const auto& each : owner.nodes) {
    auto& before = each->dependencies;
    before.erase(std::remove(before.begin(), before.end(), &node), before.end());
  }
  live().remove(&node);
  const auto found = std::find_if(owner.nodes.begin(), owner.nodes.end(),
                                  [&](const auto& each) { return each.get() == &node; });
  owner.nodes.erase(found);
}

graph_exec* instantiate(const graph& from, unsigned long long flags) {
  auto exec = std::make_unique<graph_exec>();
  exec->nodes = copy(from, exec->original);
  exec->order = ordered(*exec->nodes);
  exec->flags = flags;
  if (exec->order.size() != exec->nodes->nodes.size()) return nullptr;
  live().add(exec.get());
  return exec.release();
}

void destroy(graph_exec* one) {
  live().remove(one);
  delete one;
}

cudaError_t launch(graph_exec& exec, stream& stream) {
  if (const cudaError_t error = capture::check_use(stream); error != cudaSuccess) return error;
  if (capture::capturing(stream)) return capture::add(stream, child(*exec.nodes));
  if (const cudaError_t error = graph_memory::run(memory_steps(exec)); error != cudaSuccess) {
    return error;
  }
  clock::duration time = 0;
  for (const graph_node* node : exec.order) {
    if (exec.disabled.count(node) == 0) time += node->content.time;
  }
  streams::enqueue(stream, time);
  for (const graph_node* node : exec.order) {
    if (node->content.effect && exec.disabled.count(node) == 0) node->content.effect(stream);
  }
  return cudaSuccess;
}

node_content child(const graph& of) {
  std::unordered_map<const graph_node*, graph_node*> copies;
  std::shared_ptr<graph> nodes = copy(of, copies);
  clock::duration time = 0;
  for (const auto& node : nodes->nodes) time += node->content.time;
  auto run = [order = ordered(*nodes), nodes](stream& on) {
    for (const graph_node* node : order) {
      if (node->content.effect) node->content.effect(on);
    }
  };
  return {cudaGraphNodeTypeGraph, time, child_graph{nodes}, std::move(run)};
}

cudaGraphExecUpdateResult update(graph_exec& exec, const graph& from, graph_node*& mismatch) {
  mismatch = nullptr;
  if (exec.nodes->nodes.size() != from.nodes.size() || !same_shape(*exec.nodes, from, mismatch)) {
    return mismatch ? cudaGraphExecUpdateErrorNodeTypeChanged
                    : cudaGraphExecUpdateErrorTopologyChanged;
  }
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    exec.nodes->nodes[i]->content = from.nodes[i]->content;
    exec.original[from.nodes[i].get()] = exec.nodes->nodes[i].get();
  }
  return cudaGraphExecUpdateSuccess;
}

node_content event_record(cudaEvent_t handle) {
  return {cudaGraphNodeTypeEventRecord, 0, handle,
          [handle](stream& on) { (void)events::record(handle, &on, cudaEventDefault); }};
}

node_content event_wait(cudaEvent_t handle) {
  return {cudaGraphNodeTypeWaitEvent, 0, handle,
          [handle](stream& on) { (void)events::wait(&on, handle, cudaEventWaitDefault); }};
}

}  // namespace memtrace::simulator::graphs
