// DATA_ROOT: the folder where everything lies that outlives a process. Folders are 0700.
#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "base/fd.h"

namespace bh {

class DataRoot {
 public:
  // Makes it where it is not there; one that others may write to is refused. [any]
  static Result<DataRoot> open(const std::string& path);

  const std::string& path() const { return path_; }
  int fd() const { return fd_.get(); }

  // A folder beneath it, made with its parents; the absolute path. [any]
  Result<std::string> folder(const std::string& relative) const;

 private:
  DataRoot(std::string path, Fd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  Fd fd_;
};

// Holds a lock on a name beneath DATA_ROOT/locks, across processes; it goes with the process.
class NameLock {
 public:
  // Waits for whoever has it. [blocking]
  static Result<NameLock> take(const DataRoot& root, const std::string& name);
  // Does not wait: nothing where another has it.
  static Result<std::optional<NameLock>> try_take(const DataRoot& root, const std::string& name);

 private:
  explicit NameLock(Fd fd) : fd_(std::move(fd)) {}
  Fd fd_;
};

}  // namespace bh
