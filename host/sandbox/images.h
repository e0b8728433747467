// What an image's name comes to: an image of the store, or what the operator's configuration puts in
// its place.
#pragma once

#include <string>

#include "base/error.h"
#include "base/json.h"
#include "core/session.h"
#include "images/store.h"
#include "loader/tables.h"
#include "sandbox/profile.h"
#include "sandbox/settings.h"

namespace bh {

// The root that a wish names. Without a name, all is empty.
struct WishedRoot {
  std::string name;    // as the caller says it
  std::string digest;  // of the store; empty: the host's own system stands in
  std::string folder;  // its root, an absolute path
  json::object config;
};

// `wish.image` and profile.root.image are two ways to say it; who says both is refused
// (contradiction). Images of the store come first, the persona's own before those that are shared,
// then the names of the configuration. NOT_FOUND (image_unknown) lists those that are known.
Result<WishedRoot> find_root(ImageStore& store, const SandboxSettings& settings,
                             const Session& session, const SandboxWish& wish);

// Puts the root into the wish's profile, as backends get it: {"image": its folder}, with the image's
// environment below what the caller sets; or the host's view.
void apply_root(SandboxWish& wish, const WishedRoot& root);

// UNIMPLEMENTED (image_unsupported) where the backend's capabilities list no root "image".
Result<void> check_image_backend(const Provider& provider, const WishedRoot& root);

// Adds the report's line for it: the host's own system stands in for an image.
void report_image(json::object& report, const std::string& name);

}  // namespace bh
