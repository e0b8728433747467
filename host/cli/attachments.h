// What a tool attaches to its answer: saved in a folder, or described.
#pragma once

#include <cstdint>
#include <map>
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

  // One that comes in pieces: where it begins, each piece, its end. Saved as it comes; what never
  // ends is taken away again.
  void begin(std::int32_t stream, std::string_view name, std::string_view type);
  void append(std::int32_t stream, std::string_view bytes);
  void end(std::int32_t stream);

  // A line each, for stderr.
  const std::vector<std::string>& lines() const { return lines_; }
  const std::vector<Problem>& problems() const { return problems_; }

 private:
  struct File {
    std::string shown;  // the tool's name for it
    std::string type;
    std::string name;   // in the folder
    int fd = -1;        // -1: not saved
    int error = 0;
    std::int64_t size = 0;
  };
  File create(std::string_view name, std::string_view type);
  static void write(File& file, std::string_view bytes);
  void close(File& file);

  int dir_ = -1;
  std::string dir_name_;
  std::map<std::int32_t, File> coming_;
  std::vector<std::string> lines_;
  std::vector<Problem> problems_;
};

// The last part of `name`, without what a file's name cannot be; "attachment" where nothing is
// left.
std::string file_name_of(std::string_view name);

}  // namespace bh::cli
