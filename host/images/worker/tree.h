// The folder that an image is unpacked into. Every path is opened beneath it, once, following no
// link; what lies in the way is replaced, as a later layer hides what an earlier one had.
#pragma once

#include <sys/stat.h>
#include <sys/types.h>
#include <time.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "images/worker/job.h"

namespace bh::unpack {

// What an entry says of itself.
struct Meta {
  std::uint32_t mode = 0755;
  std::int64_t uid = 0;
  std::int64_t gid = 0;
  timespec modified{0, UTIME_OMIT};
};

// [serial]. Paths are clean (path.h) and not empty, but for make_folder(). Errors: image_unsafe,
// image_too_large, image_broken, and what the system says.
class Tree {
 public:
  // `root` stays the caller's. `layered`: what one layer made is told from what lay there before.
  Tree(int root, Job& job, bool layered) : root_(root), job_(job), layered_(layered) {}

  // From here on a whiteout hides what came so far.
  void begin_layer();

  Result<void> make_folder(const std::string& path, const Meta& meta);
  Result<void> make_link(const std::string& path, const std::string& target, const Meta& meta);
  // Another name of what an entry made before.
  Result<void> make_name(const std::string& path, const std::string& existing);
  // A new file, empty; close_file() gives it its rights and its size.
  Result<Fd> make_file(const std::string& path);
  Result<void> close_file(Fd file, const std::string& path, const Meta& meta, std::int64_t size);

  // Of earlier layers: `path` itself, or all that the folder `path` (perhaps empty) holds.
  Result<void> hide(const std::string& path);
  Result<void> hide_content(const std::string& path);

  // Folders get their rights and times last: before, they have to be written to.
  Result<void> finish();

 private:
  Result<int> parent_of(const std::string& path);
  // Makes what is missing on the way; `entry` is whom it is for.
  Result<Fd> open_folder(const std::string& path, const std::string& entry);
  Result<void> clear_way(int folder, const std::string& path, const std::string& name);
  Result<void> remove(int folder, const std::string& name, const std::string& path);
  Result<void> empty(int folder, const std::string& path);
  Result<void> count();
  std::uint32_t allowed_mode(std::uint32_t mode, std::uint32_t bits);
  Result<void> own(int fd, const char* name, const std::string& path, const Meta& meta);
  void made(const std::string& path);

  const int root_;
  Job& job_;
  const bool layered_;
  std::string parent_path_;
  Fd parent_;  // of the entry before: entries come by folders
  std::map<std::string, Meta> folders_;
  std::set<std::string> links_;  // of this layer: nothing is written through them
  std::set<std::string> made_;   // all of this layer, where there are several
};

// Opens beneath `root`, following no link. "" is the root itself.
int open_at(int root, const std::string& path, int flags);

// errno as the error of an entry: no_space and image_too_large have words of their own.
Failure write_failed(int number, const std::string& path);

// The names in an open folder, in the order of their bytes.
Result<std::vector<std::string>> names_in(int folder, const std::string& path);

// Removes what a folder holds. Of our own making: of a bounded depth, with rights of ours.
Result<void> remove_tree(int folder, const std::string& name);

}  // namespace bh::unpack
