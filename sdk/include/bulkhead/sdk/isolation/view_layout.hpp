// bulkhead/sdk/isolation/view_layout.hpp - the second half of make_view(): gives every place a mount
// point and an order.
#ifndef BULKHEAD_SDK_ISOLATION_VIEW_LAYOUT_HPP
#define BULKHEAD_SDK_ISOLATION_VIEW_LAYOUT_HPP

#include <dirent.h>

#include <string>
#include <vector>

#include "view_gather.hpp"
#include "view_hidden.hpp"

namespace bulkhead::sdk::isolation {

class Layout {
 public:
  Layout(const ViewRequest& request, View& view, Nodes& nodes, const std::vector<Placed>& placed)
      : request_(request), view_(view), nodes_(nodes), placed_(placed) {}
  Status run();

 private:
  enum class Found { kFine, kChanged, kDropped };
  Result<Found> settle(const std::string& target, const Node& node);
  Status explode(const std::string& folder);
  const std::string* provider_of(const std::string& target) const;
  bool beneath_source(const std::string& target, std::string& top) const;
  Status add_inner(const std::string& target, const Node& node, const std::string& top);

  const ViewRequest& request_;
  View& view_;
  Nodes& nodes_;
  const std::vector<Placed>& placed_;
};

namespace detail {
constexpr size_t kMostEntries = 512;
}

// The nearest node above `target`.
inline const std::string* Layout::provider_of(const std::string& target) const {
  for (std::string at = target; at != "/";) {
    at = parent_of(at);
    const auto it = nodes_.find(at);
    if (it != nodes_.end()) return &it->first;
  }
  return nullptr;
}

// Whether the launcher lays it (beneath a source) rather than bubblewrap; `top` is that source's
// target.
inline bool Layout::beneath_source(const std::string& target, std::string& top) const {
  for (const std::string* at = provider_of(target); at != nullptr; at = provider_of(*at)) {
    // What lies in an image's root is laid by steps, as in the host's.
    if (nodes_.at(*at).kind == Node::kSource && *at != "/") {
      top = *at;
      return true;
    }
  }
  return false;
}

// Stands an empty folder in for one of the host's, with all that was in it, so that a mount point
// can be made there which the host does not have.
inline Status Layout::explode(const std::string& folder) {
  DIR* d = ::opendir(folder.c_str());
  if (d == nullptr) {
    return failure(BH_FAILED_PRECONDITION, "cannot list " + folder, "mount_point", {},
                   "choose another path inside");
  }
  size_t count = 0;
  while (const dirent* entry = ::readdir(d)) {
    const std::string name = entry->d_name;
    const std::string path = join(folder, name);
    struct stat st {};
    if (name == "." || name == ".." || ::lstat(path.c_str(), &st) != 0) continue;
    if (nodes_.count(path) != 0 || ++count > detail::kMostEntries) continue;
    Node node;
    if (S_ISLNK(st.st_mode)) {
      char text[4096];
      const ssize_t n = ::readlink(path.c_str(), text, sizeof text);
      if (n <= 0) continue;
      node.kind = Node::kLink;
      node.link.assign(text, static_cast<size_t>(n));
    } else if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
      continue;
    }
    nodes_[path] = node;
  }
  ::closedir(d);
  if (count > detail::kMostEntries) {
    return failure(BH_RESOURCE_EXHAUSTED,
                   "a mount point in " + folder + " would need a mount for each of its entries",
                   "mount_point", {}, "make the folder on the host, or choose another path inside");
  }
  nodes_[folder] = Node{Node::kEmpty, 0, {}};
  return {};
}

// Looks whether bubblewrap finds a mount point for a node that is not beneath a source.
inline Result<Layout::Found> Layout::settle(const std::string& target, const Node& node) {
  const std::string* provider = provider_of(target);
  if (provider == nullptr || nodes_.at(*provider).kind != Node::kHost) return Found::kFine;
  const bool mask = node.kind == Node::kEmpty || node.kind == Node::kNothing;
  struct stat st {};
  std::string at = *provider;
  // An entry of a folder that was taken apart may itself be closed to the sandbox's user.
  if (at != "/" && ::lstat(at.c_str(), &st) == 0 && !request_.who->may(st, 1)) {
    if (mask) return Found::kDropped;
    nodes_[at] = Node{Node::kEmpty, 0, {}};
    return Found::kChanged;
  }
  const auto parts = parts_of(rest_of(target, *provider));
  for (size_t i = 0; i < parts.size(); ++i) {
    const std::string next = join(at, parts[i]);
    const bool last = i + 1 == parts.size();
    if (::lstat(next.c_str(), &st) != 0) {
      if (mask) return Found::kDropped;
      if (auto s = explode(at); !s) return std::move(s).failure();
      return Found::kChanged;
    }
    if (last) break;
    if (!S_ISDIR(st.st_mode)) {
      return failure(BH_FAILED_PRECONDITION, next + ", on the way to " + target + ", is no folder",
                     "mount_point", {}, "choose another path inside");
    }
    if (!request_.who->may(st, 1)) {
      // The sandbox's user cannot pass, so it sees nothing in there: an empty one does as well.
      if (mask) return Found::kDropped;
      nodes_[next] = Node{Node::kEmpty, 0, {}};
      return Found::kChanged;
    }
    at = next;
  }
  bool folder = true;
  if (node.kind == Node::kNothing) folder = false;
  if (node.kind == Node::kSource) {
    struct stat source {};
    folder = ::fstat(view_.held[node.source].get(), &source) == 0 && S_ISDIR(source.st_mode);
  }
  if (node.kind != Node::kLink && node.kind != Node::kHost && S_ISDIR(st.st_mode) != folder) {
    return failure(BH_FAILED_PRECONDITION,
                   target + " is " + (folder ? "a file" : "a folder") +
                       " on the host; what is to be mounted there is not",
                   "mount_point", {}, "choose another path inside");
  }
  return Found::kFine;
}

inline Status Layout::add_inner(const std::string& target, const Node& node, const std::string& top) {
  const size_t index = nodes_.at(top).source;
  Source& source = view_.sources[index];
  InnerMount inner;
  inner.path = rest_of(target, top);
  // Beneath a mask of ours, or in a folder that the host made for this sandbox.
  const std::string* above = provider_of(target);
  const bool in_mask = *above != top && nodes_.at(*above).kind == Node::kEmpty;
  switch (node.kind) {
    case Node::kSource:
      inner.kind = InnerMount::kSource;
      inner.source = static_cast<uint32_t>(node.source);
      if (in_mask) {
        inner.make = 2;
      } else if (placed_[index].ours) {
        inner.make = 1;
      }
      break;
    case Node::kEmpty:
    case Node::kNothing:
      inner.kind = InnerMount::kHide;
      inner.optional = 1;
      // Something is to stand in it.
      for (const auto& [path, other] : nodes_) {
        if (path != target && is_within(path, target) && other.kind == Node::kSource)
          inner.make = 1;
      }
      break;
    case Node::kReadOnly:
      inner.kind = InnerMount::kReadOnly;
      break;
    case Node::kWritable:
      inner.kind = InnerMount::kWritable;
      break;
    default:
      return failure(BH_INVALID_ARGUMENT, target + " cannot stand in " + top, "mount_point", {},
                     "choose another path inside");
  }
  // Whoever may rename a folder above could put another in its place: each becomes a mount point.
  if (source.read_only == 0 && !in_mask) {
    std::string at;
    const auto parts = parts_of(inner.path);
    for (size_t i = 0; i + 1 < parts.size(); ++i) {
      at = at.empty() ? parts[i] : join(at, parts[i]);
      bool known = nodes_.count(join(top, at)) != 0;
      for (const InnerMount& m : source.inner) known = known || m.path == at;
      if (known) continue;
      InnerMount pin;
      pin.path = at;
      pin.make = inner.kind == InnerMount::kSource ? inner.make : 0;
      pin.optional = inner.optional;
      source.inner.push_back(std::move(pin));
    }
  }
  source.inner.push_back(std::move(inner));
  return {};
}

inline Status Layout::run() {
  std::string top;
  for (bool again = true; again;) {
    again = false;
    for (auto it = nodes_.begin(); it != nodes_.end(); ++it) {
      if (it->first == "/" || beneath_source(it->first, top)) continue;
      const std::string target = it->first;
      const Node node = it->second;
      auto found = settle(target, node);
      if (!found) return std::move(found).failure();
      if (*found == Found::kFine) continue;
      if (*found == Found::kDropped) nodes_.erase(target);
      again = true;
      break;
    }
  }
  bool staged = request_.who->ids == Ids::kShifted;
  for (const auto& [target, node] : nodes_) {
    if (beneath_source(target, top)) {
      if (auto st = add_inner(target, node, top); !st) return st;
      staged = true;
    } else {
      view_.steps.push_back({target, node});
      if (node.kind == Node::kEmpty || node.kind == Node::kDevices) view_.seal.push_back(target);
    }
  }
  for (auto& source : view_.sources) source.staged = staged ? 1 : 0;
  view_.private_users = staged && request_.who->ids == Ids::kOwn;
  return {};
}

// A failure names the key of the profile that cannot be. [blocking]
inline Result<View> make_view(const ViewRequest& request) {
  View view;
  Gather gather(request, view);
  if (auto st = gather.run(); !st) return std::move(st).failure();
  if (auto st = Layout(request, view, gather.nodes, gather.placed).run(); !st) {
    return std::move(st).failure();
  }
  return view;
}

}  // namespace bulkhead::sdk::isolation

#endif  // BULKHEAD_SDK_ISOLATION_VIEW_LAYOUT_HPP
