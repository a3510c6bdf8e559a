// SPDX-License-Identifier: Apache-2.0
//
// The program's source on its way into a trace: what is listed, what is read, what is recorded.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>
#include <vector>

#include "interpose/ground/base/sha256.h"
#include "interpose/ground/recorder/source_list.h"
#include "interpose/ground/recorder/source_text.h"
#include "memtrace/user_code.h"
#include "tests/unit/support/recorders.h"

using namespace memtrace;
using namespace memtrace::test;
using format::kind;

namespace {

constexpr std::uint64_t long_from_now = ~std::uint64_t{0};
constexpr std::uint64_t any_size = format::most_source_bytes;

std::string digest_of(std::string_view text) {
  const auto digits = sha256::of(text);
  return {digits.data(), digits.size()};
}

std::string written(const temporary_folder& folder, const char* name, std::string_view text) {
  const std::string path = folder.path() + "/" + name;
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::vector<std::string> listed(source_list& list) {
  std::vector<std::string> paths;
  for (source_list::entry next; list.take(next);) paths.push_back(next.path);
  return paths;
}

}  // namespace

TEST_CASE("the digest is SHA-256") {
  // The examples of FIPS 180-4, and what fills a block to its end.
  CHECK(digest_of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(digest_of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(digest_of("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq") ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(digest_of(std::string(1'000'000, 'a')) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST_CASE("files of the user's own are listed, each once, and others never") {
  source_list list;
  list.meet(1, "/srv/before.py");
  CHECK(listed(list).empty());  // nobody wants them yet
  list.begin();
  const auto news = list.news().load();
  list.meet(1, "/srv/train.py");
  CHECK(list.news().load() != news);
  list.meet(1, "/srv/train.py");
  list.meet(2, "/venv/lib/python3.11/site-packages/torch/nn/functional.py");
  list.meet(3, "<string>");
  list.meet(4, "<frozen runpy>");
  list.meet(5, std::string_view("/srv/a\0b.py", 11));
  list.meet(6, "/" + std::string(5000, 'x') + ".py");
  list.meet(0, "/srv/no_text.py");
  list.meet(7, "model.py");
  CHECK(listed(list) == std::vector<std::string>{"/srv/train.py", "model.py"});
  CHECK(listed(list).empty());
}

TEST_CASE("no more files are listed than a trace may have") {
  source_list list;
  list.begin();
  for (std::uint32_t id = 1; id <= format::most_sources + 10; ++id) {
    list.meet(id, "/srv/" + std::to_string(id) + ".py");
  }
  CHECK(listed(list).size() == format::most_sources);
}

TEST_CASE("a file is read as it is") {
  const temporary_folder folder;
  const std::string text("a = 'b'\n\0\xff\r\n", 12);
  const auto path = written(folder, "train.py", text);
  const source_text found = read_source(path.c_str(), long_from_now, any_size);
  CHECK(found.flags == 0);
  CHECK(found.text == text);
  CHECK(found.bytes == text.size());
  struct stat file {};
  REQUIRE(stat(path.c_str(), &file) == 0);
  CHECK(found.modified_ns == static_cast<std::uint64_t>(file.st_mtim.tv_sec) * 1'000'000'000 +
                                 static_cast<std::uint64_t>(file.st_mtim.tv_nsec));
  CHECK(read_source(written(folder, "empty.py", "").c_str(), long_from_now, any_size).flags == 0);
}

TEST_CASE("a file that has changed since is read, and says so") {
  const temporary_folder folder;
  const auto path = written(folder, "train.py", "x = 1\n");
  CHECK(read_source(path.c_str(), 1, any_size).flags == format::source_changed);
  CHECK(read_source(path.c_str(), 1, any_size).text == "x = 1\n");
  // As a tool does that puts another text in its place and gives it the old time.
  const timespec long_ago[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(utimensat(AT_FDCWD, path.c_str(), long_ago, 0) == 0);
  CHECK(read_source(path.c_str(), 2'000'000'000'000, any_size).flags == format::source_changed);
}

TEST_CASE("what is no file, or too large, costs a flag") {
  const temporary_folder folder;
  const auto flags_of = [](const std::string& path, std::uint64_t most = any_size) {
    const auto found = read_source(path.c_str(), long_from_now, most);
    CHECK_FALSE(found.has_text());
    CHECK(found.text.empty());
    return found.flags;
  };
  CHECK(flags_of(folder.path() + "/none.py") == format::source_unreadable);
  CHECK(flags_of(folder.path()) == format::source_unreadable);
  CHECK(flags_of("/dev/zero") == format::source_unreadable);
  const std::string pipe = folder.path() + "/pipe.py";
  REQUIRE(mkfifo(pipe.c_str(), 0600) == 0);
  CHECK(flags_of(pipe) == format::source_unreadable);  // and nobody waits for a writer
  const std::string link = folder.path() + "/link.py";
  REQUIRE(symlink("link.py", link.c_str()) == 0);
  CHECK(flags_of(link) == format::source_unreadable);
  const auto large = written(folder, "large.py", std::string(1001, '#'));
  CHECK(flags_of(large, 1000) == format::source_too_large);
  CHECK(read_source(large.c_str(), long_from_now, 1001).flags == 0);
}

TEST_CASE("a stack's own files are listed by the recorder, and their parts come out of the file") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  recording->sources().begin();
  const std::vector<stack_frame> frames = {
      {"/venv/lib/python3.11/site-packages/torch/a.py", "f", 1},
      {"/srv/model.py", "forward", 3},
      {"/srv/train.py", "main", 7}};
  CHECK(recording->intern(frames) != 0);
  CHECK(recording->intern(frames) != 0);
  source_list::entry next;
  std::vector<std::string> paths;
  std::uint32_t id = 0;
  while (recording->sources().take(next)) {
    paths.push_back(next.path);
    id = next.id;
  }
  CHECK(paths == std::vector<std::string>{"/srv/train.py", "/srv/model.py"});

  const std::string text(format::source_part_bytes + 5, 'x');
  const std::string digest = digest_of(text);
  source_part_event part{id, format::source_changed, 1234567890123456789, text.size(), digest};
  part.text = std::string_view(text).substr(0, format::source_part_bytes);
  REQUIRE(recording->source(part));
  recording->allocator(allocation(512, 512));
  part.offset = format::source_part_bytes;
  part.text = std::string_view(text).substr(format::source_part_bytes);
  REQUIRE(recording->source(part));
  const std::string path = recording->path();
  recording->finish();

  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.header.version == (1 | 1 << 16));
  CHECK(trace.timed == 1);
  const auto found = trace.of(kind::source);
  REQUIRE(found.size() == 2);
  CHECK(found[0].values == std::vector<std::uint64_t>{id, 1, 1234567890123456789, text.size(), 0});
  CHECK(found[1].values.back() == format::source_part_bytes);
  CHECK(found[0].texts[0] == digest);
  CHECK(found[0].texts[1] + found[1].texts[1] == text);
}

TEST_CASE("what is expected to grow stands in the file, and is no event") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  const std::uint32_t what = recording->text_id("self.outputs");
  const std::uint32_t why = recording->text_id("plotted at the end");
  recording->expectation({.what = what, .why = why, .said_at = 12});
  recording->expectation({~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u});  // the longest
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  REQUIRE(trace.error.empty());
  CHECK(trace.timed == 0);
  const auto found = trace.of(kind::expectation);
  REQUIRE(found.size() == 2);
  CHECK(found[0].values == std::vector<std::uint64_t>{what, why, 0, 12, 0, 0, 0, 0, 0});
  CHECK(found[1].values == std::vector<std::uint64_t>(9, ~0u));
}

TEST_CASE("a recording that has ended takes no source") {
  const temporary_folder folder;
  auto recording = make_recorder(folder);
  recording->finish();
  CHECK_FALSE(recording->source({.file = 1, .text = "x"}));
}

TEST_CASE("a long text fills as many blocks as it needs") {
  const temporary_folder folder;
  auto recording = make_recorder(folder, small_shape, false);
  const std::string text(format::source_part_bytes, 'x');
  for (unsigned i = 0; i < 20; ++i) {
    REQUIRE(recording->source({.file = 0, .bytes = text.size(), .text = text}));
  }
  const std::string path = recording->path();
  recording->finish();
  const auto trace = decode_trace(path);
  CHECK(trace.error.empty());
  CHECK(trace.block_sequences.size() > 5);
  CHECK(trace.of(kind::source).size() == 20);
}
