// A folder that goes with the test.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>
#include <system_error>

struct Folder {
  Folder() {
    char name[] = "/tmp/bh-sdk-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string path;
};
