#include "prepare.h"

#include <bulkhead/sdk/isolation/view_hidden.hpp>

namespace landlocked {

using sdk::failure;
using sdk::Status;

namespace {

// The same profile with everything at its own path, since nothing can be mounted elsewhere.
isolation::Profile at_own_paths(isolation::Profile profile, const PrepareRequest& request) {
  if (!profile.home) profile.home = isolation::Profile::Place{request.own_home, {}, {}};
  profile.home->path = profile.home->source;
  // Of other sandboxes, also where the host does not say so.
  profile.hide.push_back(request.tools->state);
  if (profile.workspace) profile.workspace->path = profile.workspace->source;
  for (auto& mount : profile.mounts) {
    const std::string found = isolation::canonical(mount.source);
    if (!found.empty()) mount.path = found;
  }
  return profile;
}

Identity identity(const isolation::Profile& profile) {
  const bool root = ::geteuid() == 0;
  Identity who = isolation::identity_for(profile, root ? Ids::kRoot : Ids::kOwn, 0);
  // There is no user namespace to be another one in.
  who.uid = who.inside_uid = ::geteuid();
  who.gid = who.inside_gid = ::getegid();
  who.name = isolation::detail::name_of(who.uid);
  return who;
}

}  // namespace

sdk::Result<Prepared> prepare(const PrepareRequest& request) {
  auto profile = isolation::parse_profile(request.profile);
  if (!profile) return std::move(profile).failure();
  Prepared p;
  p.profile = std::move(*profile);
  p.who = identity(p.profile);
  const isolation::Profile flat = at_own_paths(p.profile, request);
  isolation::ViewRequest view_request;
  view_request.profile = &flat;
  view_request.who = &p.who;
  view_request.environment = &request.tools->environment;
  view_request.own_tmp = request.own_tmp;
  view_request.own = &request.tools->own;
  view_request.absent = request.absent;
  isolation::View view;
  isolation::Gather gathered(view_request, view);
  if (auto st = gathered.run(); !st) return std::move(st).failure();
  p.home = flat.home->source;
  p.tmp = flat.tmp ? flat.tmp->source : request.own_tmp;
  p.cwd = flat.workspace ? flat.workspace->source : p.home;
  p.absent = view.absent;
  Grants grants = make_grants(gathered, view);
  if (grants.cut) {
    return failure(BH_RESOURCE_EXHAUSTED,
                   "folders that hold something hidden have more than " +
                       std::to_string(kMostGrants) + " entries, which Landlock would have to be "
                       "told one by one",
                   "too_large", "files", "hide whole folders, or choose another backend");
  }
  fill_report(*request.tools, {&view, &grants}, p);
  p.wall.grants = std::move(grants.list);
  p.wall.version = static_cast<uint32_t>(request.tools->version);
  p.wall.ports = p.profile.network == isolation::Network::kUnrestricted ? 0 : 1;
  return p;
}

Status acceptable(const Prepared& p) {
  if (p.profile.root != "host") {
    return failure(BH_FAILED_PRECONDITION,
                   "landlock shows the host's own files only, no " + p.profile.root, "not_enforced",
                   "root." + p.profile.root, "choose a backend with images");
  }
  for (const char* rule : {"network.mode", "network.allow"}) {
    const auto* line = p.report.find(rule);
    if (line != nullptr && line->state != isolation::Report::State::kEnforced) {
      return failure(BH_FAILED_PRECONDITION,
                     "the network would not be what the profile asks for: " + line->reason,
                     "not_enforced", rule, "set network.mode to off or unrestricted");
    }
  }
  return p.report.meets(p.profile.required);
}

}  // namespace landlocked
