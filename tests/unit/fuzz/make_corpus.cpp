// SPDX-License-Identifier: Apache-2.0
//
// make_corpus FOLDER TRACE…: seeds for the fuzzers from traces. Blocks become seeds for the
// records fuzzer; small traces as a whole, with their slots cut to what a seed needs, seeds for
// the file fuzzer. Large ones are left out: a fuzzer wants small seeds.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/trace/reader/header.h"
#include "analyzer/trace/reader/section.h"

namespace {

using namespace memtrace;
namespace fs = std::filesystem;

constexpr std::size_t most_record_bytes = 6000;
constexpr std::size_t most_file_bytes = 32u << 10;

void save(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

[[nodiscard]] std::string area(std::span<const unsigned char> bytes) {
  return {bytes.begin(), bytes.end()};
}

// The start of a block's records; the reader ends at the first record without a time.
[[nodiscard]] std::string record_seed(const trace::section& part) {
  const auto records = part.records.first(std::min(part.records.size(), most_record_bytes));
  const auto times = part.times.first(std::min(part.times.size(), most_record_bytes / 2));
  const char size[] = {static_cast<char>(records.size() & 0xff),
                       static_cast<char>(records.size() >> 8)};
  return std::string(size, 2) + area(records) + area(times);
}

[[nodiscard]] bool add_seeds(const fs::path& folder, const std::string& path) {
  auto source = trace::file_source::open(path);
  if (!source) return false;
  const auto stem = fs::path(path).stem().string();
  if (source->size() <= most_file_bytes) {
    std::vector<char> bytes(static_cast<std::size_t>(source->size()));
    (void)source->read(0, std::as_writable_bytes(std::span(bytes)));
    save(folder / "file" / stem, {bytes.begin(), bytes.end()});
  }
  auto header = trace::read_header(*source);
  if (!header) return true;  // a seed for the file fuzzer all the same
  trace::section_reader sections(*source, *header);
  for (int i = 0; i < 2; ++i) {
    const auto part = sections.next();
    if (!part) break;
    save(folder / "records" / (stem + "-" + std::to_string(part->sequence)), record_seed(*part));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fprintf(stderr, "usage: make_corpus FOLDER TRACE...\n");
    return 2;
  }
  const fs::path folder = argv[1];
  fs::create_directories(folder / "file");
  fs::create_directories(folder / "records");
  bool all = true;
  for (int i = 2; i < argc; ++i) all = add_seeds(folder, argv[i]) && all;
  return all ? 0 : 1;
}
