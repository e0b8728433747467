// What an OCI image layout or `docker save` says of an image: which layers, in which order, with
// which digests, and how it wants to be run.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "images/worker/job.h"

namespace bh::unpack {

struct Layer {
  std::string path;     // of its blob, beneath the layout
  std::string digest;   // of the blob as it is; empty: nobody says
  std::string diff_id;  // of the tar in it
};

struct Layout {
  std::string kind;    // "oci" or "docker"
  std::string digest;  // of the manifest, or of docker's configuration
  std::string os, arch;
  json::object config;  // Env, WorkingDir, User, Entrypoint and Cmd, where it has them
  std::vector<std::string> names;  // what it is called in there
  std::vector<Layer> layers;
};

// What lies in `folder`; nothing: neither of the two. All that is read is checked against the digest
// by which it is named. Errors: image_broken, image_ambiguous (`known`), image_platform (`known`).
Result<std::optional<Layout>> read_layout(int folder, const Job& job);

// A blob, for reading. Links that stay beneath are followed: older `docker save` names layers so.
Result<Fd> open_blob(int folder, const std::string& path);

}  // namespace bh::unpack
