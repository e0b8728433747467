// Who could have put a file where it is: opens folders and files while checking that nobody but
// root and the user can change them or swap them for others.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.h"
#include "loader/finding.h"

namespace bh {

// Whose files are believed. `group` names one group that may also write: only for plugins that lie
// beside the library, when that group can write the library's own folder and so needs no plugin to
// take the process over (a build tree made under umask 002).
struct Trust {
  std::vector<uid_t> owners;
  std::optional<gid_t> group;

  // root and the effective user.
  static Trust usual();
};

struct Folder {
  Fd fd;             // readable, CLOEXEC
  std::string path;  // absolute, without links
};

struct File {
  Fd fd;  // readable, CLOEXEC; a regular file
  std::string path;
};

// Opens an absolute path step by step from the root, following links by hand: every folder and link
// on the way must belong to the trusted and be writable by no one else. A sticky folder (/tmp) is
// accepted on the way, since there others cannot replace what is not theirs, but not at the end.
// Empty: there is no such folder. [any]
Checked<std::optional<Folder>> open_folder(const std::string& path, const Trust& trust);

// Opens one folder right below `parent`; a link is refused. [any]
Checked<Folder> open_subfolder(const Folder& parent, const std::string& name, const Trust& trust);

// Opens the regular file `relative` (no "..", not absolute) below `folder`, following no link at
// all. Step by step with O_NOFOLLOW instead of one openat2(RESOLVE_BENEATH): the same walls, each
// folder on the way is looked at, and it works under container filters that refuse openat2. [any]
Checked<File> open_file(const Folder& folder, const std::string& relative, const Trust& trust);

}  // namespace bh
