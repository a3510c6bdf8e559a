// SPDX-License-Identifier: Apache-2.0
//
// Stream capture and graphs: what is allowed, what is an error, and which.
#include <cuda_runtime_api.h>

#include <thread>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

namespace {

struct capture_state {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long id = 0;
  cudaGraph_t graph = nullptr;
  const cudaGraphNode_t* dependencies = nullptr;
  std::size_t count = 0;
};

cudaError_t ask(cudaStream_t stream, capture_state& state) {
#if CUDART_VERSION >= 13000
  return cudaStreamGetCaptureInfo(stream, &state.status, &state.id, &state.graph,
                                  &state.dependencies, nullptr, &state.count);
#else
  return cudaStreamGetCaptureInfo_v2(stream, &state.status, &state.id, &state.graph,
                                     &state.dependencies, &state.count);
#endif
}

void begin(const stream& one, cudaStreamCaptureMode mode = cudaStreamCaptureModeGlobal) {
  REQUIRE(cudaStreamBeginCapture(one.handle, mode) == cudaSuccess);
}

void end_invalidated(const stream& one) {
  cudaGraph_t graph = reinterpret_cast<cudaGraph_t>(&graph);
  CHECK(cudaStreamEndCapture(one.handle, &graph) == cudaErrorStreamCaptureInvalidated);
  CHECK(graph == nullptr);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusActive;
  REQUIRE(cudaStreamIsCapturing(one.handle, &status) == cudaSuccess);
  CHECK(status == cudaStreamCaptureStatusNone);
}

std::size_t node_count(cudaGraph_t graph) {
  std::size_t count = 0;
  REQUIRE(cudaGraphGetNodes(graph, nullptr, &count) == cudaSuccess);
  return count;
}

}  // namespace

TEST_CASE("a capture records what its stream is given", "[capture]") {
  const stream one;
  const device_buffer memory(1024);
  begin(one);
  one.launch();
  one.launch();
  REQUIRE(cudaMemsetAsync(memory.address, 1, 1024, one.handle) == cudaSuccess);
  capture_state state;
  REQUIRE(ask(one.handle, state) == cudaSuccess);
  CHECK(state.status == cudaStreamCaptureStatusActive);
  CHECK(state.count == 1);
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaStreamEndCapture(one.handle, &graph) == cudaSuccess);
  CHECK(graph == state.graph);
  CHECK(node_count(graph) == 3);
  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiateWithFlags(&exec, graph, 0) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  unsigned char back = 0;
  REQUIRE(cudaMemcpy(&back, memory.address, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back == 0);
  REQUIRE(cudaGraphLaunch(exec, one.handle) == cudaSuccess);
  CHECK(cudaStreamQuery(one.handle) == cudaErrorNotReady);
  REQUIRE(cudaMemcpy(&back, memory.address, 1, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(back == 1);
  REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
  CHECK(cudaGraphExecDestroy(exec) == cudaErrorInvalidValue);
  CHECK(cudaGraphDestroy(graph) == cudaErrorInvalidValue);
}

TEST_CASE("capture ids are unique and increase", "[capture]") {
  const stream one;
  unsigned long long last = 0;
  for (int i = 0; i < 3; ++i) {
    begin(one);
    capture_state state;
    REQUIRE(ask(one.handle, state) == cudaSuccess);
    CHECK(state.id > last);
    last = state.id;
    cudaGraph_t graph = nullptr;
    REQUIRE(cudaStreamEndCapture(one.handle, &graph) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
}

TEST_CASE("an event takes another stream into the capture and back", "[capture]") {
  const stream main, side;
  const event fork, join;
  begin(main);
  main.launch();
  REQUIRE(cudaEventRecord(fork.handle, main.handle) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(side.handle, fork.handle, 0) == cudaSuccess);
  capture_state of_main, of_side;
  REQUIRE(ask(main.handle, of_main) == cudaSuccess);
  REQUIRE(ask(side.handle, of_side) == cudaSuccess);
  CHECK(of_side.status == cudaStreamCaptureStatusActive);
  CHECK(of_side.id == of_main.id);
  side.launch();
  cudaGraph_t graph = nullptr;
  SECTION("joined") {
    REQUIRE(cudaEventRecord(join.handle, side.handle) == cudaSuccess);
    REQUIRE(cudaStreamWaitEvent(main.handle, join.handle, 0) == cudaSuccess);
    REQUIRE(cudaStreamEndCapture(main.handle, &graph) == cudaSuccess);
    CHECK(node_count(graph) == 2);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  SECTION("not joined") {
    CHECK(cudaStreamEndCapture(main.handle, &graph) == cudaErrorStreamCaptureUnjoined);
    CHECK(graph == nullptr);
  }
  SECTION("ended on the wrong stream") {
    CHECK(cudaStreamEndCapture(side.handle, &graph) == cudaErrorStreamCaptureUnmatched);
    end_invalidated(main);
  }
  REQUIRE(ask(side.handle, of_side) == cudaSuccess);
  CHECK(of_side.status == cudaStreamCaptureStatusNone);
}

TEST_CASE("waiting for a capturing stream is error 900 and invalidates the capture", "[capture]") {
  const stream one;
  begin(one, cudaStreamCaptureModeRelaxed);
  SECTION("synchronize") {
    CHECK(cudaStreamSynchronize(one.handle) == cudaErrorStreamCaptureUnsupported);
  }
  SECTION("query") {
    CHECK(cudaStreamQuery(one.handle) == cudaErrorStreamCaptureUnsupported);
  }
  SECTION("the whole device") {
    CHECK(cudaDeviceSynchronize() == cudaErrorStreamCaptureUnsupported);
  }
  CHECK(launch_shape(one.handle, 1, 1) == cudaErrorStreamCaptureInvalidated);
  CHECK(cudaStreamSynchronize(one.handle) == cudaErrorStreamCaptureInvalidated);
  capture_state state;
  REQUIRE(ask(one.handle, state) == cudaSuccess);
  CHECK(state.status == cudaStreamCaptureStatusInvalidated);
  end_invalidated(one);
}

TEST_CASE("an event recorded in a capture can be neither queried nor waited for", "[capture]") {
  const stream one;
  const event inside;
  begin(one);
  REQUIRE(cudaEventRecord(inside.handle, one.handle) == cudaSuccess);
  SECTION("query") {
    CHECK(cudaEventQuery(inside.handle) == cudaErrorCapturedEvent);
  }
  SECTION("synchronize") {
    CHECK(cudaEventSynchronize(inside.handle) == cudaErrorCapturedEvent);
  }
  end_invalidated(one);
  REQUIRE(cudaEventRecord(inside.handle, one.handle) == cudaSuccess);
  CHECK(cudaEventSynchronize(inside.handle) == cudaSuccess);
}

TEST_CASE("dependencies that cross the edge of a capture are errors", "[capture]") {
  const stream one, two;
  const event before, inside;
  REQUIRE(cudaEventRecord(before.handle, two.handle) == cudaSuccess);
  begin(one);
  SECTION("on work before it") {
    CHECK(cudaStreamWaitEvent(one.handle, before.handle, 0) == cudaErrorStreamCaptureIsolation);
  }
  SECTION("on another capture") {
    begin(two);
    REQUIRE(cudaEventRecord(inside.handle, one.handle) == cudaSuccess);
    CHECK(cudaStreamWaitEvent(two.handle, inside.handle, 0) == cudaErrorStreamCaptureMerge);
    end_invalidated(two);
  }
  end_invalidated(one);
}

TEST_CASE("unsafe calls are prohibited by the modes of capture and thread", "[capture]") {
  const stream one;
  void* memory = nullptr;
  SECTION("global capture, same thread") {
    begin(one, cudaStreamCaptureModeGlobal);
    CHECK(cudaMalloc(&memory, 1024) == cudaErrorStreamCaptureUnsupported);
    end_invalidated(one);
  }
  SECTION("global capture, other thread") {
    begin(one, cudaStreamCaptureModeGlobal);
    std::thread([&] {
      CHECK(cudaMalloc(&memory, 1024) == cudaErrorStreamCaptureUnsupported);
    }).join();
    end_invalidated(one);
  }
  SECTION("thread-local capture, other thread") {
    begin(one, cudaStreamCaptureModeThreadLocal);
    std::thread([&] { CHECK(cudaMalloc(&memory, 1024) == cudaSuccess); }).join();
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(one.handle, &graph) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  SECTION("global capture, thread that relaxed itself") {
    begin(one, cudaStreamCaptureModeGlobal);
    auto mode = cudaStreamCaptureModeRelaxed;
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    CHECK(mode == cudaStreamCaptureModeGlobal);
    CHECK(cudaMalloc(&memory, 1024) == cudaSuccess);
    REQUIRE(cudaThreadExchangeStreamCaptureMode(&mode) == cudaSuccess);
    CHECK(mode == cudaStreamCaptureModeRelaxed);
    cudaGraph_t graph = nullptr;
    CHECK(cudaStreamEndCapture(one.handle, &graph) == cudaSuccess);
    REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  }
  REQUIRE(cudaFree(memory) == cudaSuccess);
}

TEST_CASE("the legacy stream may not be used while a blocking stream is capturing", "[capture]") {
  const stream blocking{cudaStreamDefault};
  begin(blocking, cudaStreamCaptureModeRelaxed);
  CHECK(launch_shape(nullptr, 1, 1) == cudaErrorStreamCaptureImplicit);
  end_invalidated(blocking);
  CHECK(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal) ==
        cudaErrorStreamCaptureUnsupported);
}

TEST_CASE("captures end in their own thread, unless relaxed", "[capture]") {
  const stream one;
  cudaGraph_t graph = nullptr;
  begin(one, cudaStreamCaptureModeThreadLocal);
  std::thread([&] {
    CHECK(cudaStreamEndCapture(one.handle, &graph) == cudaErrorStreamCaptureWrongThread);
  }).join();
  REQUIRE(cudaStreamEndCapture(one.handle, &graph) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
  CHECK(cudaStreamEndCapture(one.handle, &graph) == cudaErrorIllegalState);
}

TEST_CASE("a graph can be built by hand, cloned, updated and printed", "[graph]") {
  cudaGraph_t graph = nullptr;
  REQUIRE(cudaGraphCreate(&graph, 0) == cudaSuccess);
  const device_buffer memory(256);
  int calls = 0;
  cudaMemsetParams fill{};
  fill.dst = memory.address;
  fill.elementSize = 4;
  fill.value = 7;
  fill.width = 64;
  fill.height = 1;
  cudaGraphNode_t first = nullptr, second = nullptr;
  REQUIRE(cudaGraphAddMemsetNode(&first, graph, nullptr, 0, &fill) == cudaSuccess);
  const cudaHostNodeParams call{[](void* to) { ++*static_cast<int*>(to); }, &calls};
  REQUIRE(cudaGraphAddHostNode(&second, graph, &first, 1, &call) == cudaSuccess);
  std::size_t count = 0;
  REQUIRE(cudaGraphGetRootNodes(graph, nullptr, &count) == cudaSuccess);
  CHECK(count == 1);

  cudaGraph_t clone = nullptr;
  cudaGraphNode_t twin = nullptr;
  REQUIRE(cudaGraphClone(&clone, graph) == cudaSuccess);
  REQUIRE(cudaGraphNodeFindInClone(&twin, first, clone) == cudaSuccess);
  CHECK(twin != first);
  cudaGraphNodeType type = cudaGraphNodeTypeEmpty;
  REQUIRE(cudaGraphNodeGetType(twin, &type) == cudaSuccess);
  CHECK(type == cudaGraphNodeTypeMemset);

  cudaGraphExec_t exec = nullptr;
  REQUIRE(cudaGraphInstantiateWithFlags(&exec, graph, 0) == cudaSuccess);
  fill.value = 9;
  REQUIRE(cudaGraphMemsetNodeSetParams(twin, &fill) == cudaSuccess);
  cudaGraphExecUpdateResultInfo info{};
  REQUIRE(cudaGraphExecUpdate(exec, clone, &info) == cudaSuccess);
  REQUIRE(cudaGraphLaunch(exec, nullptr) == cudaSuccess);
  int value = 0;
  REQUIRE(cudaMemcpy(&value, memory.at(128), 4, cudaMemcpyDeviceToHost) == cudaSuccess);
  CHECK(value == 9);
  CHECK(calls == 1);

  cudaGraphNode_t third = nullptr;
  REQUIRE(cudaGraphAddEmptyNode(&third, clone, nullptr, 0) == cudaSuccess);
  CHECK(cudaGraphExecUpdate(exec, clone, &info) == cudaErrorGraphExecUpdateFailure);
  CHECK(info.result == cudaGraphExecUpdateErrorTopologyChanged);
  CHECK(cudaGraphDebugDotPrint(clone, "/nonexistent/folder/graph.dot", 0) ==
        cudaErrorOperatingSystem);
  REQUIRE(cudaGraphExecDestroy(exec) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(clone) == cudaSuccess);
  REQUIRE(cudaGraphDestroy(graph) == cudaSuccess);
}
