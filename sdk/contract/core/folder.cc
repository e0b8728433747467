#include "folder.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace bulkhead::sdk::contract {

namespace fs = std::filesystem;

Folder::Folder(const std::string& below) {
  std::string pattern = below + "/bulkhead-contract-XXXXXX";
  const char* made = ::mkdtemp(pattern.data());
  if (made == nullptr) {
    throw std::runtime_error("no folder can be made in " + below + ": " + std::strerror(errno));
  }
  path_ = fs::canonical(made).string();
  // What keeps a command out is to be the wall alone, also where its id is another one.
  (void)::chmod(made, 0755);
}
Folder::~Folder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}
std::string Folder::make(const std::string& name) const {
  const std::string path = path_ + "/" + name;
  fs::create_directories(path);
  return path;
}
std::string Folder::write(const std::string& name, const std::string& text) const {
  const std::string path = path_ + "/" + name;
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path;
}

std::string read_file(const std::string& path) {
  std::ostringstream out;
  out << std::ifstream(path, std::ios::binary).rdbuf();
  return out.str();
}
bool is_there(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

std::vector<std::string> tree(const std::string& path) {
  std::vector<std::string> out;
  std::error_code ignored;
  for (fs::recursive_directory_iterator it(path, ignored), end; it != end; it.increment(ignored)) {
    out.push_back(it->path().string());
  }
  std::sort(out.begin(), out.end());
  return out;
}

void copy_program(const std::string& from, const std::string& to) {
  fs::copy_file(from, to, fs::copy_options::overwrite_existing);
  (void)::chmod(to.c_str(), 0755);
}

}  // namespace bulkhead::sdk::contract
