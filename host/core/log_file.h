// The log as a file, over spdlog, which this hides: its unit is the only one that includes it.
#pragma once

#include <memory>
#include <string>

#include "base/error.h"

namespace bh {

class LogFile {
 public:
  static Result<std::unique_ptr<LogFile>> open(const std::string& path);
  ~LogFile();
  // [any]
  void write(int level, const std::string& line);

 private:
  struct Inside;
  explicit LogFile(std::unique_ptr<Inside> inside);
  std::unique_ptr<Inside> inside_;
};

}  // namespace bh
