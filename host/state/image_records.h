// What is known of the images in the store: a row for each, and who calls it what.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/json.h"
#include "state/database.h"

namespace bh {

// What was unpacked. Immutable: another content has another digest.
struct ImageRecord {
  std::string digest;  // "sha256:…"
  std::string kind;    // oci, docker, tar, folder
  std::string source;  // the path it came from; empty: it was sent
  std::string os, arch;
  json::object config;    // Env, WorkingDir, User, Entrypoint, Cmd
  json::object left_out;  // how many devices, set-id bits, attributes
  bool ids_kept = false;  // files have the owners that the image gives them
  std::int64_t bytes = 0;
  std::int64_t entries = 0;
  std::int64_t created_ms = 0;
};

// A name of an image. One that was given none is called by its digest.
struct NamedImage : ImageRecord {
  std::string owner;  // a persona; empty: the operator, who shares it with all
  std::string name;
};

// All [any]; several processes may use one DATA_ROOT. Errors: those of Database, and DATA_LOSS
// (record) for a row that cannot be read.
class ImageRecords {
 public:
  explicit ImageRecords(Database& db) : db_(db) {}

  // A sandbox that starts from an image.
  struct User {
    std::string sandbox;
    std::string persona;
  };

  struct Added {
    bool fresh = false;    // nobody had that image
    std::string released;  // the digest of one that lost its last name and that no sandbox uses
  };
  // Records the image where it is new, and the name. ALREADY_EXISTS (image_exists) where the owner
  // calls another image so; with `replace` the name moves: the other is called by its digest while a
  // sandbox uses it, else released. RESOURCE_EXHAUSTED (quota) where the owner's images would then
  // take more than `limit`; 0: there is none.
  Result<Added> add(const ImageRecord& image, const std::string& owner, const std::string& name,
                    bool replace, std::int64_t limit);

  // Takes that name away, or all of the owner's where it is a digest; with `all_owners` everybody's.
  // The digest where it was the last and the record is gone, too; else empty. Where a sandbox uses it
  // then, nothing is changed and `users` has them.
  Result<std::string> remove(const std::string& owner, const std::string& name, bool all_owners,
                             std::vector<User>& users);

  // By name or digest among those of `owner`; nothing: there is none.
  Result<std::optional<NamedImage>> find(const std::string& owner, const std::string& name);
  // By digest, whoever has it.
  Result<std::optional<ImageRecord>> get(const std::string& digest);
  // By owner and name; of one owner and of those that are shared, or of all.
  Result<std::vector<NamedImage>> list(const std::string& owner, bool all_owners);
  // What the owner's images take, each counted once.
  Result<std::int64_t> bytes_of(const std::string& owner);

 private:
  Database& db_;
};

// The one sentence for a full store.
Failure image_quota(std::int64_t limit, std::int64_t others);

}  // namespace bh
