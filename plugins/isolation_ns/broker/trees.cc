#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <bulkhead/sdk/isolation/inner_mounts.hpp>

#include "builder.h"

namespace ns {

using isolation::Fd;
using isolation::MountAttributes;
using isolation::Source;

namespace {

bool fail(Answer& answer, const std::string& what) {
  answer.error = errno != 0 ? errno : EIO;
  ::snprintf(answer.text, sizeof answer.text, "%s: %s", what.c_str(), ::strerror(answer.error));
  return false;
}

// A copy of what is mounted at `fd` and below; nothing in it is a device or runs as another.
Fd plain_tree(int fd, bool read_only) {
  Fd tree = isolation::copy_tree(fd, isolation::kTreeRecursive);
  MountAttributes a;
  a.set = isolation::kMountNoSuid | isolation::kMountNoDevices |
          (read_only ? isolation::kMountReadOnly : 0);
  if (tree && isolation::set_mount(tree.get(), isolation::kTreeRecursive, a) != 0) tree.reset();
  return tree;
}

std::string lines_of(const std::vector<IdRange>& ranges) {
  std::string out;
  for (const IdRange& one : ranges) {
    out += std::to_string(one.inside) + " " + std::to_string(one.outside) + " " +
           std::to_string(one.count) + "\n";
  }
  return out;
}

bool map_ids(const Blueprint& plan, const Source& source, int tree, isolation::MountUsers& users) {
  // An image has all ids that a sandbox has, written down as they are inside.
  const bool image = plan.image != 0 && &source == &plan.sources.front();
  if (source.owner == isolation::kNobody && !image) return true;
  const int map = image ? users.get(lines_of(plan.ids), lines_of(plan.groups))
                        : users.get(isolation::swapped_id(source.owner, plan.kernel_uid),
                                    isolation::swapped_id(source.group, plan.kernel_gid));
  if (map < 0) return false;
  MountAttributes ids;
  ids.set = isolation::kMountIdMap;
  ids.users = static_cast<uint64_t>(map);
  // A mount below it that cannot be mapped stays as it is: the sandbox's user owns nothing there.
  return isolation::set_mount(tree, isolation::kTreeRecursive, ids) == 0 ||
         isolation::set_mount(tree, 0, ids) == 0;
}

bool open_source(const Blueprint& plan, const Source& source, Trees& trees,
                 isolation::MountUsers* users, Answer& answer) {
  const Fd fd = isolation::open_canonical(source.path);
  struct stat st {};
  if (!fd || ::fstat(fd.get(), &st) != 0) return fail(answer, "opening " + source.path);
  if (st.st_dev != source.device || st.st_ino != source.inode) {
    errno = ESTALE;
    return fail(answer, source.path + " is no longer what it was when the sandbox was prepared");
  }
  Fd tree = plain_tree(fd.get(), source.read_only != 0);
  if (!tree) return fail(answer, "mounting " + source.path);
  if (users != nullptr && !map_ids(plan, source, tree.get(), *users)) {
    answer.unmapped = 1;
    return fail(answer, "mounting " + source.path + " with other ids");
  }
  trees.folders.push_back(S_ISDIR(st.st_mode));
  trees.sources.push_back(std::move(tree));
  return true;
}

}  // namespace

bool open_trees(const Blueprint& plan, Trees& trees, isolation::MountUsers* users, Answer& answer) {
  for (const Source& source : plan.sources) {
    if (!open_source(plan, source, trees, users, answer)) return false;
  }
  if (!plan.upper.empty()) {
    const Fd fd = isolation::open_canonical(plan.upper);
    trees.upper = fd ? plain_tree(fd.get(), false) : Fd();
    if (!trees.upper) return fail(answer, "mounting " + plan.upper);
  }
  for (const Place& place : plan.places) {
    if (place.kind != Place::kHost) continue;
    const Fd fd = isolation::open_canonical(place.target);
    if (!fd && place.target != "/") continue;  // gone meanwhile
    Fd tree = fd ? plain_tree(fd.get(), true) : Fd();
    if (!tree) return fail(answer, "mounting the host's " + place.target);
    if (place.target == "/") {
      trees.root = std::move(tree);
    } else {
      trees.hosts[place.target] = std::move(tree);
    }
  }
  return true;
}

}  // namespace ns
