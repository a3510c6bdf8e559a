// SPDX-License-Identifier: Apache-2.0
//
// follow_trace TRACE SEED: follows a recording that grows, with pauses at random, until its program
// has ended, then reads the finished file as memtrace report does, and compares what both were
// handed, record by record. Exit status 1: they differ.
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <thread>

#include "analyzer/export/formats/dump.h"
#include "analyzer/trace/reader/followed_file.h"
#include "analyzer/trace/reader/following_reader.h"

namespace {

using namespace memtrace;

struct text_file {
  char* bytes = nullptr;
  std::size_t size = 0;
  std::FILE* file = ::open_memstream(&bytes, &size);
  ~text_file() { std::free(bytes); }
  [[nodiscard]] std::string text() {
    std::fclose(file);
    return {bytes, size};
  }
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  auto file = trace::followed_file::open(argv[1]);
  if (!file) return 2;
  auto following = trace::following_reader::open(**file);
  if (!following) return 2;
  auto& reader = **following;
  text_file followed;
  exporting::dump_writer to_followed(reader.names(), followed.file, {});
  std::minstd_rand random(static_cast<unsigned>(std::atoi(argv[2])));
  std::size_t polls = 0;
  std::uint64_t at_first = 0;
  for (bool over = false; !over; ++polls) {
    const auto& of = reader.header();
    over = reader.has_trailer() ||
           (*file)->writer(of.process_id, of.start_realtime_ns) == trace::writer_state::gone;
    while (reader.poll(to_followed, 1 + random() % 5)) {
    }
    if (polls == 0) at_first = reader.facts().events;
    if (!over) std::this_thread::sleep_for(std::chrono::microseconds(random() % 60'000));
  }
  to_followed.finish();

  auto source = trace::followed_file::open(argv[1]);
  if (!source) return 2;
  auto whole = trace::reader::open(**source);
  if (!whole) return 2;
  text_file read;
  exporting::dump_writer to_read(whole->names(), read.file, {});
  const auto facts = whole->read(to_read);
  to_read.finish();
  const auto one = followed.text();
  const auto other = read.text();
  const auto mine = reader.facts();
  const bool same = one == other && mine.events == facts.events &&
                    mine.clean_exit == facts.clean_exit && mine.truncated == facts.truncated;
  std::printf("%zu polls, %llu events at first, %llu in the end, %s\n", polls,
              static_cast<unsigned long long>(at_first),
              static_cast<unsigned long long>(facts.events), same ? "equal" : "not equal");
  return same ? 0 : 1;
}
