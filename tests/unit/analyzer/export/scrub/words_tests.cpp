// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/scrub/disguise.h"
#include "tests/unit/catch.h"

using namespace memtrace;
using namespace std::string_literals;

TEST_CASE("allocator settings stay, but for words that are none") {
  for (const auto* const settings :
       {"", "expandable_segments:True", "backend:cudaMallocAsync",
        "max_split_size_mb:128,garbage_collection_threshold:0.8,roundup_power2_divisions:[256:1,>:"
        "4]",
        "per_process_memory_fraction:0.5, pinned_use_background_threads:True"}) {
    CHECK(scrub::scrubbed_settings(settings) == settings);
  }
  CHECK(scrub::scrubbed_settings("expandable_segments:True,ada:/home"
                                 "/ada") == "expandable_segments:True,removed:removedremoved");
}

TEST_CASE("a variable's value stays if it tells no more than a setting") {
  for (const auto* const value : {"", "0", "1", "0,1,2,3", ":4096:8", "LAZY", "Ring", "bf16"}) {
    CHECK(scrub::scrubbed_value(value) == value);
  }
  for (const auto* const value :
       {"ada", "/data/ada", "sk-1234abcd", "GPU-8932f937-d72c-4106", "https://example.org"}) {
    CHECK(scrub::scrubbed_value(value) == scrub::removed);
  }
}

namespace {

[[nodiscard]] scrub::disguise learned() {
  scrub::disguise hides;
  hides.learn_info("host", "node17.cluster.example.org");
  hides.learn_info("command",
                   "/usr/bin/python\0/home"
                   "/ada/run.py\0--token\0abc123"s);
  hides.learn(
      "/home"
      "/ada/run.py",
      scrub::role::file);
  hides.learn("cannot write /data/secret/out.bin, nor to /data/secret", 0);
  hides.learn(
      "list\x1f"
      "3\x1flocal of fit\x1f/home"
      "/ada/lib/fit.py\x1f"
      "12\x1fTrainer",
      scrub::role::held_detail);
  hides.settle();
  return hides;
}

}  // namespace

TEST_CASE("of a command the names of the program and its script are left") {
  const auto hides = learned();
  CHECK(hides.info("command",
                   "/usr/bin/python\0/home"
                   "/ada/run.py\0--token\0abc123"s) == "python\0run.py"s);
  CHECK(hides.info("command",
                   "/home"
                   "/ada/bin/train\0secret.txt"s) == "train");
  CHECK(hides.info("command", "python\0-c\0print('abc123')"s) == "python");
}

TEST_CASE("the same machine has the same name wherever it is named") {
  const auto hides = learned();
  CHECK(hides.info("host", "node17.cluster.example.org") == "host1");
  CHECK(hides.text("sent by node17 to node171", 0) == "sent by host1 to node171");
}

TEST_CASE("ranks and versions stay; what a rank cannot be does not") {
  const auto hides = learned();
  CHECK(hides.info("rank", "3") == "3");
  CHECK(hides.info("rank", "ada") == scrub::removed);
  CHECK(hides.info("torch", "2.11.0+cu130") == "2.11.0+cu130");
  CHECK(hides.info("simulated", "NVIDIA GeForce RTX 3090") == "NVIDIA GeForce RTX 3090");
  CHECK(hides.info("env.NCCL_ALGO", "Ring") == "Ring");
  CHECK(hides.info("env.WHATEVER", "abc123xyz") == scrub::removed);
  CHECK(hides.info("of a later version", "ada") == scrub::removed);
}

TEST_CASE("sentences lose paths and users, and nothing else") {
  const auto hides = learned();
  CHECK(hides.text("cannot write /data/secret/out.bin, nor to /data/secret", 0) ==
        "cannot write /code1/out.bin, nor to /code1");
  CHECK(hides.text("ada's tensor, and that of adam: 1/2", 0) ==
        "user1's tensor, and that of adam: 1/2");
  CHECK(hides.text("train/forward", 0) == "train/forward");
  CHECK(hides.text("self.layers[\xe2\x80\xa6].weight", 0) == "self.layers[\xe2\x80\xa6].weight");
}

TEST_CASE("a census's owner is named without its directory") {
  const auto hides = learned();
  const auto made = hides.text(
      "list\x1f"
      "3\x1flocal of fit\x1f/home"
      "/ada/lib/fit.py\x1f"
      "12\x1fTrainer",
      scrub::role::held_detail);
  CHECK(made ==
        "list\x1f"
        "3\x1flocal of fit\x1f/code3/fit.py\x1f"
        "12\x1fTrainer");
}

TEST_CASE("accounts that everybody has hide nothing, and names of two letters are words") {
  scrub::disguise hides;
  hides.learn_user("root");
  hides.learn_user("of");
  hides.learn(
      "/home"
      "/runner/x.py",
      scrub::role::file);
  hides.settle();
  CHECK(hides.names() == 0);
  CHECK(hides.text("the root of a runner", 0) == "the root of a runner");
}
