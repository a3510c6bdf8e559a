// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <string>

// A new folder that goes away with the object.
class temporary_folder {
 public:
  temporary_folder() {
    std::string name = (std::filesystem::temp_directory_path() / "memtrace-test-XXXXXX").string();
    path_ = ::mkdtemp(name.data());
  }
  ~temporary_folder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

  std::filesystem::path write(const std::string& name, const std::string& bytes,
                              bool executable = false) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << bytes;
    if (executable) std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }

 private:
  std::filesystem::path path_;
};

// An environment variable for as long as the object lives.
class variable_guard {
 public:
  variable_guard(const char* name, const std::string& value) : name_(name) {
    const char* before = ::getenv(name);
    if (before != nullptr) before_ = before;
    was_set_ = before != nullptr;
    ::setenv(name, value.c_str(), 1);
  }
  ~variable_guard() { was_set_ ? ::setenv(name_, before_.c_str(), 1) : ::unsetenv(name_); }
  variable_guard(const variable_guard&) = delete;
  variable_guard& operator=(const variable_guard&) = delete;

 private:
  const char* name_;
  std::string before_;
  bool was_set_ = false;
};
