// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include "simulator/program/cache.h"
#include "temporary_folder.h"
#include "tests/unit/catch.h"

using namespace memtrace::simulator;
namespace fs = std::filesystem;

TEST_CASE("a record is believed until one of its inputs changes") {
  const temporary_folder folder;
  const fs::path input = folder.write("input", "one");
  const fs::path record = folder.path() / "record";
  CHECK_FALSE(load_record(record));
  fs::create_directory(folder.path() / "packages");
  save_record(record, {{input, folder.path() / "packages"}, {"first value", "", "third"}});
  const auto known = load_record(record);
  REQUIRE(known);
  CHECK(*known == std::vector<std::string>{"first value", "", "third"});
  folder.write("packages/new", "");  // a folder's time tells what comes and goes in it
  CHECK_FALSE(load_record(record));
  save_record(record, {{input}, {"value"}});
  REQUIRE(load_record(record));
  folder.write("input", "longer than before");
  CHECK_FALSE(load_record(record));
}

TEST_CASE("a record that is cut short or of another version is not believed") {
  const temporary_folder folder;
  save_record(folder.path() / "record", {{}, {"value"}});
  std::string text;
  {
    std::ifstream in(folder.path() / "record");
    text.assign(std::istreambuf_iterator<char>(in), {});
  }
  REQUIRE(load_record(folder.write("copy", text)));
  CHECK_FALSE(load_record(folder.write("cut", text.substr(0, text.size() - 4))));
  CHECK_FALSE(load_record(folder.write("other", "x" + text)));
}

TEST_CASE("an input that is gone leaves no record") {
  const temporary_folder folder;
  save_record(folder.path() / "record", {{folder.path() / "missing"}, {"value"}});
  CHECK_FALSE(fs::exists(folder.path() / "record"));
}

TEST_CASE("fingerprints tell where one part ends") {
  CHECK(fingerprint({"ab", "c"}) != fingerprint({"a", "bc"}));
  CHECK(fingerprint({"ab", "c"}) == fingerprint({"ab", "c"}));
}

TEST_CASE("the cache folder is private, and one that others may write is refused") {
  const temporary_folder folder;
  const auto made = open_cache_directory(folder.path() / "new" / "cache");
  REQUIRE(made.ok());
  CHECK((fs::status(made.value()).permissions() & fs::perms::all) == fs::perms::owner_all);

  const fs::path open_to_all = folder.path() / "shared";
  fs::create_directory(open_to_all);
  fs::permissions(open_to_all, fs::perms::all);
  const auto refused = open_cache_directory(open_to_all);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().find("XDG_CACHE_HOME") != std::string::npos);
}

TEST_CASE("a cache folder is refused where others could put another one in its place") {
  const temporary_folder folder;
  const fs::path shared = folder.path() / "shared";
  fs::create_directory(shared);
  fs::permissions(shared, fs::perms::all);
  CHECK_FALSE(open_cache_directory(shared / "cache").ok());
  // As /tmp: only its owner takes a folder away again.
  fs::permissions(shared, fs::perms::all | fs::perms::sticky_bit);
  CHECK(open_cache_directory(shared / "cache").ok());
}

TEST_CASE("without a writable home the cache goes to TMPDIR") {
  const temporary_folder folder;
  const fs::path file = folder.write("file", "");  // a folder cannot be made below a file
  const variable_guard cache("XDG_CACHE_HOME", file.string());
  const variable_guard home("HOME", file.string());
  const variable_guard temporary("TMPDIR", folder.path().string());
  const auto made = open_cache_directory({});
  REQUIRE(made.ok());
  CHECK(made.value() == folder.path() / ("memtrace-" + std::to_string(::geteuid())));
}
