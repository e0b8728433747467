// Temporary folders, and the little that checks read and write on the host.
#pragma once

#include <string>
#include <vector>

namespace bulkhead::sdk::contract {

// A folder that goes with the object.
class Folder {
 public:
  // Throws std::runtime_error where none can be made.
  explicit Folder(const std::string& below);
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  const std::string& path() const { return path_; }
  std::string make(const std::string& name) const;
  std::string write(const std::string& name, const std::string& text) const;

 private:
  std::string path_;
};

std::string read_file(const std::string& path);
bool is_there(const std::string& path);
// All names below it, sorted, links not followed.
std::vector<std::string> tree(const std::string& path);
// A copy of a program that can be run by everybody.
void copy_program(const std::string& from, const std::string& to);

}  // namespace bulkhead::sdk::contract
