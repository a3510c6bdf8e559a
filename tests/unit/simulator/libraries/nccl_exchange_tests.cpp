// SPDX-License-Identifier: Apache-2.0
#include "simulator/libraries/nccl_exchange.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "tests/unit/catch.h"

using namespace memtrace::simulator::nccl;

namespace {

std::uint64_t new_key() {
  static std::uint64_t next = 0;
  return static_cast<std::uint64_t>(getpid()) << 32 | next++;
}

std::span<const std::byte> bytes_of(const std::string& text) {
  return std::as_bytes(std::span(text.data(), text.size()));
}

std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

// Tries until it works, as the library's operations do.
template <typename Attempt>
void insist(exchange& at, Attempt attempt) {
  for (;;) {
    const std::uint32_t epoch = at.epoch();
    if (attempt()) return;
    at.wait(epoch, std::chrono::milliseconds(100));
  }
}

}  // namespace

TEST_CASE("ranks see each other's payloads, operation by operation") {
  constexpr int ranks = 3;
  constexpr std::uint64_t operations = 50;  // many times the operations under way at once
  const std::uint64_t key = new_key();
  std::vector<std::string> failures(ranks);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([=, &failures] {
      const auto own = exchange::open(key, ranks, rank);
      insist(*own, [&] { return own->joined(); });
      for (std::uint64_t number = 0; number < operations; ++number) {
        const std::string mine = std::to_string(number) + " of " + std::to_string(rank);
        insist(*own,
               [&] { return own->post(number, bytes_of(mine), rank != 1 ? mine.size() : 0); });
        insist(*own, [&] { return own->complete(number); });
        for (int other = 0; other < ranks; ++other) {
          const std::string wanted = std::to_string(number) + " of " + std::to_string(other);
          if (text_of(own->payload(number, other)) != wanted) failures[rank] = wanted;
          if (own->known(number, other) != (other != 1 ? wanted.size() : 0))
            failures[rank] = "known";
        }
        own->release(number);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  REQUIRE(failures == std::vector<std::string>(ranks));
}

TEST_CASE("a payload is not overwritten before all ranks have released it") {
  const std::uint64_t key = new_key();
  const auto fast = exchange::open(key, 2, 0);
  const auto slow = exchange::open(key, 2, 1);
  std::uint64_t number = 0;
  while (number < 100 && fast->post(number, bytes_of(std::to_string(number)),
                                    bytes_of(std::to_string(number)).size())) {
    fast->release(number++);
  }
  REQUIRE(number < 100);
  for (std::uint64_t read = 0; read < number; ++read) {
    REQUIRE(text_of(slow->payload(read, 0)) == std::to_string(read));
  }
  slow->release(0);
  REQUIRE(fast->post(number, bytes_of("next"), bytes_of("next").size()));
}

TEST_CASE("messages arrive in order") {
  const std::uint64_t key = new_key();
  const auto one = exchange::open(key, 2, 0);
  const auto other = exchange::open(key, 2, 1);
  REQUIRE(one->send(1, bytes_of("first"), bytes_of("first").size()));
  REQUIRE(one->send(1, bytes_of("later"), 0));
  std::string got(5, ' ');
  std::size_t known = 0;
  const auto into = std::as_writable_bytes(std::span(got.data(), got.size()));
  REQUIRE(other->receive(0, into, known));
  REQUIRE(got == "first");
  REQUIRE(known);
  REQUIRE(other->receive(0, into, known));
  REQUIRE(got == "later");
  REQUIRE(known == 0);
  REQUIRE_FALSE(other->receive(0, into, known));
  REQUIRE_FALSE(one->receive(1, into, known));
}

TEST_CASE("a payload of the largest size arrives whole, if its contents are known") {
  const std::uint64_t key = new_key();
  const auto one = exchange::open(key, 2, 0);
  const auto other = exchange::open(key, 2, 1);
  std::string large(payload_limit, 'a');
  large.back() = 'z';
  REQUIRE(one->post(0, bytes_of(large), bytes_of(large).size()));
  REQUIRE(other->post(0, bytes_of(large), 0));
  REQUIRE(one->known(0, 0));
  REQUIRE(text_of(other->payload(0, 0)) == large);
  REQUIRE_FALSE(one->known(0, 1));
  REQUIRE(one->payload(0, 1).size() == payload_limit);
}

TEST_CASE("an operation is hopeless only if a rank left without its part") {
  const std::uint64_t key = new_key();
  const auto stays = exchange::open(key, 2, 0);
  auto leaves = exchange::open(key, 2, 1);
  REQUIRE(leaves->post(0, bytes_of("last"), bytes_of("last").size()));
  leaves->release(0);
  leaves.reset();
  REQUIRE_FALSE(stays->collective_hopeless(0));
  REQUIRE(stays->post(0, bytes_of("mine"), bytes_of("mine").size()));
  REQUIRE(stays->complete(0));
  REQUIRE(text_of(stays->payload(0, 1)) == "last");
  REQUIRE(stays->collective_hopeless(1));
  REQUIRE(stays->receive_hopeless(1));
}

TEST_CASE("a process that ends without a word is noticed") {
  const std::uint64_t key = new_key();
  const auto own = exchange::open(key, 2, 0);
  const pid_t child = fork();
  if (child == 0) {
    const auto theirs = exchange::open(key, 2, 1);
    _exit(theirs->post(0, bytes_of("from the child"), bytes_of("from the child").size()) ? 0 : 1);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WEXITSTATUS(status) == 0);
  REQUIRE(text_of(own->payload(0, 1)) == "from the child");
  REQUIRE_FALSE(own->collective_hopeless(0));
  REQUIRE(own->collective_hopeless(1));
}

TEST_CASE("no name is left behind once all are there") {
  const std::uint64_t key = new_key();
  auto first = exchange::open(key, 2, 0);
  REQUIRE_FALSE(first->joined());
  auto second = exchange::open(key, 2, 1);
  REQUIRE(second->joined());
  REQUIRE(first->joined());
  // The next two with this key meet in other memory.
  const auto stranger = exchange::open(key, 2, 0);
  REQUIRE_FALSE(stranger->joined());
}
TEST_CASE("a rank that does not run gives what this one gives") {
  const std::uint64_t key = new_key();
  const std::vector<int> running{0, 510};
  const auto first = exchange::open(key, 512, 0, running);
  const auto last = exchange::open(key, 512, 510, running);
  REQUIRE(first->joined());
  REQUIRE_FALSE(first->runs(1));
  REQUIRE(first->post(0, bytes_of("first"), bytes_of("first").size()));
  REQUIRE_FALSE(first->complete(0));
  REQUIRE(last->post(0, bytes_of("last"), 0));
  REQUIRE(first->complete(0));
  REQUIRE(text_of(first->payload(0, 510)) == "last");
  REQUIRE(text_of(first->payload(0, 511)) == "first");
  REQUIRE(text_of(last->payload(0, 511)) == "last");
  REQUIRE(first->known(0, 511));
  REQUIRE_FALSE(last->known(0, 511));
}

TEST_CASE("a rank that does not run sends what it was sent, if that has the size") {
  const auto own = exchange::open(new_key(), 512, 7, {7});
  REQUIRE(own->joined());
  REQUIRE(own->send(8, bytes_of("four"), bytes_of("four").size()));
  REQUIRE_FALSE(own->receive_hopeless(8));
  std::array<std::byte, 4> got{};
  std::size_t known = 0;
  REQUIRE(own->receive(8, got, known));
  REQUIRE(known == got.size());
  REQUIRE(text_of(got) == "four");
  REQUIRE(own->send(8, bytes_of("more than four"), bytes_of("more than four").size()));
  REQUIRE(own->receive(8, got, known));
  REQUIRE(known == 0);
  REQUIRE(own->receive(8, got, known));  // it was sent nothing
  REQUIRE(known == 0);
}
