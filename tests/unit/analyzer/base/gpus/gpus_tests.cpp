// SPDX-License-Identifier: Apache-2.0
#include "analyzer/base/gpus/gpus.h"

#include "tests/unit/catch.h"

using namespace memtrace;

TEST_CASE("A GPU is found by its name, however it is written") {
  const auto* const found = gpus::find("rtx3090");
  REQUIRE(found != nullptr);
  CHECK(std::string_view(found->name) == "NVIDIA GeForce RTX 3090");
  CHECK(found->total_bytes > 23ULL << 30);
  CHECK(found->total_bytes < 24ULL << 30);
  CHECK(gpus::find("RTX 3090") == found);
  CHECK(gpus::find("3090") == nullptr);
  CHECK(gpus::find("") == nullptr);
}

TEST_CASE("A name without a size is the size that is listed first") {
  CHECK(std::string_view(gpus::find("H100")->key) == "h100-80");
  CHECK(std::string_view(gpus::find("a100")->key) == "a100-40");
  CHECK(std::string_view(gpus::find("h200")->key) == "h200");
  CHECK(gpus::find("h") == nullptr);
}

TEST_CASE("Who mistypes a GPU's name is told the nearest ones") {
  CHECK(gpus::unknown_gpu_sentence("RTX_3090").find("rtx3090") != std::string::npos);
  CHECK(gpus::unknown_gpu_sentence("4090").find("rtx4090") != std::string::npos);
  CHECK(gpus::unknown_gpu_sentence("6GiB").find("--memory 6GiB") != std::string::npos);
  CHECK(gpus::unknown_gpu_sentence("h10").find("h100") != std::string::npos);
}
