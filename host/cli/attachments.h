// What a tool attaches to its answer: saved in a folder, or described.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/problem.h"

namespace bh::cli {

class Attachments {
 public:
  Attachments() = default;
  Attachments(const Attachments&) = delete;
  Attachments& operator=(const Attachments&) = delete;
  ~Attachments();

  // Saves in `dir`, which is made where it is absent (its parent has to be there).
  Result<void> save_to(const std::string& dir);

  // Saves or notes one. Names are the tool's: their last part is taken, and no file that is
  // there is overwritten. A failure is kept for problems().
  void add(std::string_view name, std::string_view type, std::string_view bytes);

  // A line each, for stderr.
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  int dir_ = -1;
  std::string dir_name_;
  std::vector<std::string> lines_;
  std::vector<Problem> problems_;
};

// The last part of `name`, without what a file's name cannot be; "attachment" where nothing is
// left.
std::string file_name_of(std::string_view name);

}  // namespace bh::cli
