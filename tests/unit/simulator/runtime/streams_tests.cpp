// SPDX-License-Identifier: Apache-2.0
//
// Streams and events on the virtual clock, through the runtime API.
#include <cuda_runtime_api.h>

#include <thread>
#include <vector>

#include "tests/unit/catch.h"
#include "tests/unit/support/gpu.h"

using namespace memtrace::simulated_gpu;

TEST_CASE("an event is ready when the work before it is done, and not before", "[streams]") {
  const stream one;
  const event after;
  for (int i = 0; i < 50; ++i) one.launch();
  REQUIRE(cudaEventRecord(after.handle, one.handle) == cudaSuccess);
  CHECK(cudaEventQuery(after.handle) == cudaErrorNotReady);
  CHECK(cudaStreamQuery(one.handle) == cudaErrorNotReady);
  REQUIRE(cudaEventSynchronize(after.handle) == cudaSuccess);
  CHECK(cudaEventQuery(after.handle) == cudaSuccess);
  CHECK(cudaStreamQuery(one.handle) == cudaSuccess);
}

TEST_CASE("an event that was never recorded is ready", "[streams]") {
  const event never;
  CHECK(cudaEventQuery(never.handle) == cudaSuccess);
  CHECK(cudaEventSynchronize(never.handle) == cudaSuccess);
}

TEST_CASE("work on other streams makes time pass on the host", "[streams]") {
  const stream busy;
  const stream other;
  const event after;
  busy.launch();
  REQUIRE(cudaEventRecord(after.handle, busy.handle) == cudaSuccess);
  REQUIRE(cudaEventQuery(after.handle) == cudaErrorNotReady);
  for (int i = 0; i < 100; ++i) other.launch();
  CHECK(cudaEventQuery(after.handle) == cudaSuccess);
}

TEST_CASE("a polling loop ends, in a thread that gives work and in one that does not",
          "[streams]") {
  const stream one;
  const event after;
  for (int i = 0; i < 500; ++i) one.launch();
  REQUIRE(cudaEventRecord(after.handle, one.handle) == cudaSuccess);
  int polls = 0;
  cudaError_t end = cudaErrorNotReady;
  const auto poll = [&] {
    while ((end = cudaEventQuery(after.handle)) == cudaErrorNotReady) ++polls;
  };
  SECTION("gives work") {
    poll();
    CHECK(end == cudaSuccess);
  }
  SECTION("only polls") {
    std::thread(poll).join();
    CHECK(end == cudaSuccess);
  }
  CHECK(polls > 0);
}

TEST_CASE("a thread that only polls changes nothing for the others", "[streams]") {
  const auto queries_until_ready = [](bool with_poller) {
    const stream one;
    const event after;
    REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
    for (int i = 0; i < 20; ++i) one.launch();
    REQUIRE(cudaEventRecord(after.handle, one.handle) == cudaSuccess);
    if (with_poller) {
      std::thread([&] {
        for (int i = 0; i < 5000; ++i) (void)cudaEventQuery(after.handle);
      }).join();
    }
    int queries = 0;
    while (cudaEventQuery(after.handle) == cudaErrorNotReady) ++queries;
    return queries;
  };
  const int alone = queries_until_ready(false);
  CHECK(alone > 0);
  CHECK(queries_until_ready(true) == alone);
  CHECK(queries_until_ready(false) == alone);
}

TEST_CASE("time between two events is positive and grows with the work between them", "[streams]") {
  const stream one;
  const event start, middle, end;
  REQUIRE(cudaEventRecord(start.handle, one.handle) == cudaSuccess);
  REQUIRE(cudaEventRecord(middle.handle, one.handle) == cudaSuccess);
  for (int i = 0; i < 10; ++i) one.launch();
  REQUIRE(cudaEventRecord(end.handle, one.handle) == cudaSuccess);
  float nothing = 0, work = 0;
  CHECK(cudaEventElapsedTime(&work, start.handle, end.handle) == cudaErrorNotReady);
  REQUIRE(cudaStreamSynchronize(one.handle) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&nothing, start.handle, middle.handle) == cudaSuccess);
  REQUIRE(cudaEventElapsedTime(&work, middle.handle, end.handle) == cudaSuccess);
  CHECK(nothing > 0);
  CHECK(work > nothing);
}

TEST_CASE("time needs two recorded events with timing", "[streams]") {
  const event recorded, never, untimed{cudaEventDisableTiming};
  float time = 0;
  REQUIRE(cudaEventRecord(recorded.handle, nullptr) == cudaSuccess);
  REQUIRE(cudaEventRecord(untimed.handle, nullptr) == cudaSuccess);
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaEventElapsedTime(&time, recorded.handle, never.handle) ==
        cudaErrorInvalidResourceHandle);
  CHECK(cudaEventElapsedTime(&time, recorded.handle, untimed.handle) ==
        cudaErrorInvalidResourceHandle);
}

TEST_CASE("a stream that waits for an event goes on after it", "[streams]") {
  const stream producer;
  const stream consumer;
  const event produced, consumed;
  for (int i = 0; i < 100; ++i) producer.launch();
  REQUIRE(cudaEventRecord(produced.handle, producer.handle) == cudaSuccess);
  REQUIRE(cudaStreamWaitEvent(consumer.handle, produced.handle, 0) == cudaSuccess);
  REQUIRE(cudaEventRecord(consumed.handle, consumer.handle) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(consumed.handle) == cudaSuccess);
  CHECK(cudaEventQuery(produced.handle) == cudaSuccess);
  float between = -1;
  REQUIRE(cudaEventElapsedTime(&between, produced.handle, consumed.handle) == cudaSuccess);
  CHECK(between > 0);
}

TEST_CASE("the legacy stream and blocking streams wait for each other, others do not",
          "[streams]") {
  const stream blocking{cudaStreamDefault};
  const stream free_running{cudaStreamNonBlocking};
  const event on_legacy, on_free;
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  for (int i = 0; i < 100; ++i) blocking.launch();
  REQUIRE(cudaEventRecord(on_free.handle, free_running.handle) == cudaSuccess);
  REQUIRE(cudaEventRecord(on_legacy.handle, nullptr) == cudaSuccess);
  REQUIRE(cudaEventSynchronize(on_free.handle) == cudaSuccess);
  CHECK(cudaStreamQuery(blocking.handle) == cudaErrorNotReady);
  REQUIRE(cudaEventSynchronize(on_legacy.handle) == cudaSuccess);
  CHECK(cudaStreamQuery(blocking.handle) == cudaSuccess);
}

TEST_CASE("cudaDeviceSynchronize waits for every stream", "[streams]") {
  const stream a, b{cudaStreamNonBlocking};
  for (int i = 0; i < 100; ++i) b.launch();
  a.launch();
  REQUIRE(cudaDeviceSynchronize() == cudaSuccess);
  CHECK(cudaStreamQuery(a.handle) == cudaSuccess);
  CHECK(cudaStreamQuery(b.handle) == cudaSuccess);
}

TEST_CASE("handles that are none are errors", "[streams]") {
  cudaStream_t gone = nullptr;
  cudaEvent_t gone_event = nullptr;
  REQUIRE(cudaStreamCreate(&gone) == cudaSuccess);
  REQUIRE(cudaStreamDestroy(gone) == cudaSuccess);
  REQUIRE(cudaEventCreate(&gone_event) == cudaSuccess);
  REQUIRE(cudaEventDestroy(gone_event) == cudaSuccess);
  CHECK(cudaStreamSynchronize(gone) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(gone) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventQuery(gone_event) == cudaErrorInvalidResourceHandle);
  CHECK(cudaEventRecord(gone_event, nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamDestroy(nullptr) == cudaErrorInvalidResourceHandle);
  CHECK(cudaStreamCreateWithFlags(&gone, 77) == cudaErrorInvalidValue);
}

TEST_CASE("priorities are clamped to the device's range", "[streams]") {
  cudaStream_t one = nullptr;
  int least = 99, greatest = 99, priority = 99;
  REQUIRE(cudaDeviceGetStreamPriorityRange(&least, &greatest) == cudaSuccess);
  REQUIRE(cudaStreamCreateWithPriority(&one, cudaStreamNonBlocking, -100) == cudaSuccess);
  REQUIRE(cudaStreamGetPriority(one, &priority) == cudaSuccess);
  CHECK(priority == greatest);
  unsigned flags = 99;
  REQUIRE(cudaStreamGetFlags(one, &flags) == cudaSuccess);
  CHECK(flags == cudaStreamNonBlocking);
  REQUIRE(cudaStreamDestroy(one) == cudaSuccess);
}

TEST_CASE("each thread has its own per-thread default stream", "[streams]") {
  unsigned long long here = 0, there = 0, again = 0;
  REQUIRE(cudaStreamGetId(cudaStreamPerThread, &here) == cudaSuccess);
  std::thread([&] { REQUIRE(cudaStreamGetId(cudaStreamPerThread, &there) == cudaSuccess); }).join();
  REQUIRE(cudaStreamGetId(cudaStreamPerThread, &again) == cudaSuccess);
  CHECK(here != there);
  CHECK(here == again);
}

TEST_CASE("host functions and callbacks are called, in order", "[streams]") {
  const stream one;
  std::vector<int> order;
  REQUIRE(cudaLaunchHostFunc(
              one.handle, [](void* to) { static_cast<std::vector<int>*>(to)->push_back(1); },
              &order) == cudaSuccess);
  REQUIRE(cudaStreamAddCallback(
              one.handle,
              [](cudaStream_t, cudaError_t, void* to) {
                static_cast<std::vector<int>*>(to)->push_back(2);
              },
              &order, 0) == cudaSuccess);
  REQUIRE(cudaStreamSynchronize(one.handle) == cudaSuccess);
  CHECK(order == std::vector<int>{1, 2});
}

TEST_CASE("launches with an impossible shape fail as on a GPU", "[launch]") {
  const stream one;
  CHECK(launch_shape(one.handle, 0, 1) == cudaErrorInvalidConfiguration);
  CHECK(launch_shape(one.handle, 1, 0) == cudaErrorInvalidConfiguration);
  CHECK(launch_shape(one.handle, 1, 1025) == cudaErrorInvalidConfiguration);
  CHECK(launch_shape(one.handle, 1, 1024) == cudaSuccess);
  CHECK(cudaLaunchKernel(nullptr, {1, 1, 1}, {1, 1, 1}, nullptr, 0, one.handle) ==
        cudaErrorInvalidDeviceFunction);
}

TEST_CASE("threads give work and copy at the same time", "[streams]") {
  std::vector<std::thread> threads;
  std::vector<int> right(4, 0);
  for (std::size_t t = 0; t < right.size(); ++t) {
    threads.emplace_back([&, t] {
      cudaStream_t own = nullptr;
      cudaEvent_t after = nullptr;
      void* memory = nullptr;
      bool good = cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking) == cudaSuccess &&
                  cudaEventCreate(&after) == cudaSuccess &&
                  cudaMalloc(&memory, 4096) == cudaSuccess;
      for (int i = 0; i < 200; ++i) {
        const int sent = static_cast<int>(t) * 1000 + i;
        int back = -1;
        good &= cudaMemcpyAsync(memory, &sent, 4, cudaMemcpyHostToDevice, own) == cudaSuccess;
        good &= launch_shape(own, 1, 1) == cudaSuccess;
        good &= cudaEventRecord(after, own) == cudaSuccess;
        good &= cudaMemcpyAsync(&back, memory, 4, cudaMemcpyDeviceToHost, own) == cudaSuccess;
        good &= cudaEventSynchronize(after) == cudaSuccess && back == sent;
      }
      good &= cudaEventDestroy(after) == cudaSuccess && cudaStreamDestroy(own) == cudaSuccess &&
              cudaFree(memory) == cudaSuccess;
      right[t] = good ? 1 : 0;
    });
  }
  for (std::thread& each : threads) each.join();
  CHECK(right == std::vector<int>(right.size(), 1));
}
