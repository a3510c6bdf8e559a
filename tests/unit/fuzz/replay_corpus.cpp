// SPDX-License-Identifier: Apache-2.0
//
// replay_corpus FOLDER: what the fuzzers would do with each file of FOLDER/file, FOLDER/records and
// FOLDER/pickle, for compilers without libFuzzer. Ends normally unless something crashes, or one
// of them has no file.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "tests/unit/fuzz/analyze.h"

namespace {

[[nodiscard]] int replay(const std::filesystem::path& folder,
                         void (*analyze)(std::span<const std::uint8_t>)) {
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    const std::vector<char> content((std::istreambuf_iterator<char>(file)), {});
    const std::vector<std::uint8_t> bytes(content.begin(), content.end());
    analyze(bytes);
    ++files;
  }
  return files;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: replay_corpus FOLDER\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const int files = replay(folder / "file", memtrace::fuzz::analyze_file);
  const int records = replay(folder / "records", memtrace::fuzz::analyze_records);
  const int pickles = replay(folder / "pickle", memtrace::fuzz::analyze_pickle);
  std::printf("%d files, %d of records, %d pickles\n", files, records, pickles);
  return files == 0 || records == 0 || pickles == 0 ? 1 : 0;
}
