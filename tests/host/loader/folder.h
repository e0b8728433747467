// A private folder below /tmp for one test, where every folder on the way is safe whatever the
// umask and the owner of the build tree.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace bh_test {

class Folder {
 public:
  Folder() {
    char name[] = "/tmp/bh-loader-XXXXXX";
    path = ::mkdtemp(name);
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  std::string make(const std::string& below, unsigned mode = 0755) const {
    const std::string whole = path + "/" + below;
    std::filesystem::create_directories(whole);
    ::chmod(whole.c_str(), mode);
    return whole;
  }

  std::string write(const std::string& below, const std::string& text, unsigned mode = 0644) const {
    const std::string whole = path + "/" + below;
    std::ofstream(whole, std::ios::binary) << text;
    ::chmod(whole.c_str(), mode);
    return whole;
  }

  std::string path;
};

}  // namespace bh_test
