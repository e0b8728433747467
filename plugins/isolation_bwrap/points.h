// Mount points that are missing in HOME and tmp: made for a command and taken away after it, so
// that what the host keeps for a persona holds no empty folders of ours.
#pragma once

#include <string>
#include <vector>

#include "view.h"

namespace bwrap {

// A record per folder says what was made in it, by inode. Its lock is held shared while a command
// runs, also by other processes: a point that another sandbox has something mounted on must stay.
// The last one removes; so does the next one after a host that was killed. [any]
class Points {
 public:
  // `state`: the provider's state folder.
  explicit Points(std::string state) : state_(std::move(state)) {}
  ~Points();
  Points(const Points&) = delete;
  Points& operator=(const Points&) = delete;

  // Before the command starts. What cannot be made is left to the launcher, which says why.
  void make(const View& view);

 private:
  struct Top {
    isolation::Fd folder, record;
  };
  void make_one(const Top& top, const std::string& path, bool folder) const;
  void clear(const Top& top) const;

  const std::string state_;
  std::vector<Top> tops_;
};

}  // namespace bwrap
