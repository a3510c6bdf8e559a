// SPDX-License-Identifier: Apache-2.0
#include "analyzer/plan/serve/engine.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/plan/serve/cell.h"
#include "tests/unit/catch.h"

using namespace memtrace;

namespace {

using command = std::vector<std::string>;

[[nodiscard]] command started(const command& as) {
  fit::launch start{as, {}};
  static_cast<void>(serve::do_without_weights(start, {}));
  return start.command;
}

[[nodiscard]] serve::cell of_tokens(std::uint64_t devices, std::uint64_t total,
                                    std::uint64_t tokens) {
  serve::cell made;
  made.came = serve::outcome::answers;
  made.devices = devices;
  made.gpu.total_bytes = total;
  made.said.tokens = tokens;
  made.said.length = 8192;
  return made;
}

}  // namespace

TEST_CASE("vLLM's sentences: the last of several processes counts") {
  const auto said = serve::words_of(
      "(EngineCore pid=7) INFO 11-29 02:42:12 [gpu_worker.py:772] Available KV cache memory: 55.62 "
      "GiB\n"
      "(EngineCore pid=7) INFO 11-29 02:42:12 [kv_cache_utils.py:1147] GPU KV cache size: 1 "
      "tokens\n"
      "(EngineCore pid=7) INFO 11-29 02:42:12 [kv_cache_utils.py:1147] GPU KV cache size: 455,616 "
      "tokens, Maximum concurrency for 8,192 tokens per request: 55.62x\n");
  CHECK(said.tokens == 455616);
  CHECK(said.length == 8192);
  CHECK(said.requests_at_once == 55.62);
  CHECK(said.trouble.empty());
}

TEST_CASE("The two sentences on lines of their own, as older versions have them") {
  const auto said = serve::words_of(
      "INFO 03-01 [kv_cache_utils.py:634] GPU KV cache size: 22,048 tokens\n"
      "INFO 03-01 [kv_cache_utils.py:637] Maximum concurrency for 4,096 tokens per request: "
      "5.38x\n");
  CHECK(said.tokens == 22048);
  CHECK(said.length == 4096);
  CHECK(said.requests_at_once == 5.38);
}

TEST_CASE("SGLang's sentence") {
  const auto said = serve::words_of(
      "[2025-03-01 10:00:00 TP0] max_total_num_tokens=417192, chunked_prefill_size=8192, "
      "max_prefill_tokens=16384, max_running_requests=4096, context_len=131072\n");
  CHECK(said.tokens == 417192);
  CHECK(said.length == 131072);
  CHECK_FALSE(said.requests_at_once);
}

TEST_CASE("The trouble is the first exception, but for those of warnings and quotations") {
  const auto said = serve::words_of(
      "(Main pid=1) WARNING 11-29 [base.py:383] ValueError: Tokenizer not available\n"
      "INFO a sentence that speaks of ValueError: no one\n"
      "(EngineCore pid=2) ERROR 11-29 [core.py:1849] ValueError: To serve at least one request\n"
      "(APIServer pid=1) RuntimeError: Engine core initialization failed. \n");
  CHECK(said.trouble == "ValueError: To serve at least one request");
  CHECK(serve::words_of("torch.OutOfMemoryError: CUDA out of memory. \n").trouble ==
        "torch.OutOfMemoryError: CUDA out of memory.");
  CHECK(serve::words_of("").trouble.empty());
}

TEST_CASE("A server is started without weights, and only a server") {
  CHECK(started({"vllm", "serve", "some/model"}) ==
        command{"vllm", "serve", "some/model", "--load-format", "dummy"});
  CHECK(started({"/opt/bin/vllm", "serve", "some/model", "--load-format=auto"}) ==
        command{"/opt/bin/vllm", "serve", "some/model", "--load-format=auto"});
  CHECK(started({"python", "-m", "sglang.launch_server", "--model-path", "some/model"}).back() ==
        "dummy");
  CHECK(started({"python", "serve.py", "vllm"}) == command{"python", "serve.py", "vllm"});
}

TEST_CASE("A folder with a configuration alone needs no tokenizer") {
  const auto folder =
      std::filesystem::temp_directory_path() / ("memtrace-engine-" + std::to_string(::getpid()));
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "config.json") << "{}";
  CHECK(started({"vllm", "serve", folder.string(), "--load-format", "dummy"}).back() ==
        "--skip-tokenizer-init");
  std::ofstream(folder / "tokenizer.json") << "{}";
  CHECK(started({"vllm", "serve", folder.string(), "--load-format", "dummy"}).back() == "dummy");
  std::filesystem::remove_all(folder);
}

TEST_CASE("FlashInfer's sampler stays off where nobody has chosen") {
  fit::launch start{{"vllm", "serve", "m", "--load-format", "dummy"}, {}};
  CHECK(serve::do_without_weights(start, {}).size() == 1);
  CHECK(start.environment.size() == 1);
  start.environment.clear();
  CHECK(serve::do_without_weights(start, {"VLLM_USE_FLASHINFER_SAMPLER"}).empty());
  CHECK(start.environment.empty());
}

TEST_CASE(
    "A load is held where there is room for all its tokens, and each request may be as long") {
  serve::request wanted;
  wanted.requests = 8;
  wanted.tokens = 4096;
  CHECK(serve::serves(wanted, of_tokens(1, 1, 8 * 4096)) == true);
  CHECK(serve::serves(wanted, of_tokens(1, 1, 8 * 4096 - 1)) == false);
  wanted.tokens = 8193;
  CHECK(serve::serves(wanted, of_tokens(1, 1, 1000000)) == false);
  wanted.tokens = 4096;
  auto silent = of_tokens(1, 1, 0);
  silent.said.tokens.reset();
  CHECK_FALSE(serve::serves(wanted, silent));
  auto down = of_tokens(1, 1, 1000000);
  down.came = serve::outcome::failed;
  CHECK(serve::serves(wanted, down) == false);
  CHECK_FALSE(serve::serves(serve::request{}, of_tokens(1, 1, 1000000)));
}

TEST_CASE("The least memory in all, and of those the most tokens") {
  serve::request wanted;
  wanted.requests = 8;
  wanted.tokens = 4096;
  const std::vector cells{of_tokens(2, 24, 50000), of_tokens(1, 48, 60000), of_tokens(1, 80, 90000),
                          of_tokens(1, 24, 1000)};
  CHECK(serve::smallest_that_serves(wanted, cells) == &cells[1]);
  CHECK(serve::smallest_that_serves(serve::request{}, cells) == nullptr);
}
