#include "state/image_records.h"

#include <algorithm>
#include <utility>

namespace bh {
namespace {

#define BH_IMAGE_COLUMNS \
  "i.digest, kind, source, os, arch, config, left_out, ids_kept, bytes, entries, i.created_ms"
constexpr std::size_t kImageColumns = 11;
#define BH_NAMED                                                                 \
  "SELECT " BH_IMAGE_COLUMNS ", n.owner, n.name FROM image_names n JOIN images i" \
  " ON i.digest=n.digest "

Result<ImageRecord> image_of(const DbRow& row) {
  ImageRecord out;
  out.digest = row.text(0);
  out.kind = row.text(1);
  out.source = row.text(2);
  out.os = row.text(3);
  out.arch = row.text(4);
  json::object* const parts[] = {&out.config, &out.left_out};
  for (std::size_t i = 0; i < 2; i++) {
    auto parsed = json::parse_object(row.text(5 + i));
    if (!parsed) {
      return fail(BH_DATA_LOSS, "the record of image " + out.digest + " cannot be read", "record",
                  {{"image", out.digest}});
    }
    *parts[i] = std::move(*parsed);
  }
  out.ids_kept = row.integer(7) != 0;
  out.bytes = row.integer(8);
  out.entries = row.integer(9);
  out.created_ms = row.integer(10);
  return out;
}

Result<NamedImage> named_of(const DbRow& row) {
  auto image = image_of(row);
  if (!image) return tl::unexpected(std::move(image).error());
  NamedImage out;
  static_cast<ImageRecord&>(out) = std::move(*image);
  out.owner = row.text(kImageColumns);
  out.name = row.text(kImageColumns + 1);
  return out;
}

Result<std::vector<std::string>> texts(Result<DbRows> rows) {
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<std::string> out;
  for (const DbRow& row : *rows) out.push_back(row.text(0));
  return out;
}

Result<std::vector<ImageRecords::User>> users_of(Database::Turn& turn, const std::string& digest) {
  auto rows = turn.run(
      "SELECT id, persona FROM sandboxes WHERE root_image=? AND root_image<>'' ORDER BY id", {digest});
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<ImageRecords::User> out;
  for (const DbRow& row : *rows) out.push_back({row.text(0), row.text(1)});
  return out;
}

Result<bool> is_named(Database::Turn& turn, const std::string& digest) {
  auto rows = turn.run("SELECT 1 FROM image_names WHERE digest=? LIMIT 1", {digest});
  if (!rows) return tl::unexpected(std::move(rows).error());
  return !rows->empty();
}

Result<void> done(Result<DbRows> rows) {
  if (!rows) return tl::unexpected(std::move(rows).error());
  return {};
}

// What the owner has beside that image.
Result<std::int64_t> others(Database::Turn& turn, const std::string& owner,
                            const std::string& digest) {
  auto rows = turn.run(
      "SELECT coalesce(sum(bytes),0) FROM images WHERE digest<>?2 AND digest IN"
      " (SELECT digest FROM image_names WHERE owner=?1)",
      {owner, digest});
  if (!rows) return tl::unexpected(std::move(rows).error());
  return rows->front().integer(0);
}

Result<void> name_image(Database::Turn& turn, const std::string& owner, const std::string& name,
                        const std::string& digest) {
  return done(turn.run("INSERT INTO image_names (owner, name, digest) VALUES (?,?,?)"
                       " ON CONFLICT (owner, name) DO UPDATE SET digest=excluded.digest",
                       {owner, name, digest}));
}

}  // namespace

Failure image_quota(std::int64_t limit, std::int64_t others) {
  json::object details;
  details["reason"] = "quota";
  details["quota"] = "images.max_bytes";
  details["limit"] = limit;
  details["remedy"] = "remove images that are no longer needed, or have the operator raise images.max_bytes";
  Error error;
  error.code = BH_RESOURCE_EXHAUSTED;
  error.message = "your images may take " + std::to_string(limit) + " bytes together, of which " +
                  std::to_string(std::max<std::int64_t>(limit - others, 0)) + " are left for this one";
  error.details = json::print(details);
  return tl::unexpected(std::move(error));
}

Result<ImageRecords::Added> ImageRecords::add(const ImageRecord& image, const std::string& owner,
                                              const std::string& name, bool replace,
                                              std::int64_t limit) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  Added out;
  auto called = texts(turn->run("SELECT digest FROM image_names WHERE owner=? AND name=?", {owner, name}));
  if (!called) return tl::unexpected(std::move(called).error());
  const std::string before = called->empty() ? std::string() : called->front();
  if (!before.empty() && before != image.digest && !replace) {
    return fail(BH_ALREADY_EXISTS,
                "there is another image " + json::quote(name) + " already, " + before, "image_exists",
                {{"image", name},
                 {"digest", before},
                 {"remedy", "remove it, choose another name, or say that it is to be replaced"}});
  }
  if (limit > 0) {
    auto taken = others(*turn, owner, image.digest);
    if (!taken) return tl::unexpected(std::move(taken).error());
    if (image.bytes > limit - *taken) return image_quota(limit, *taken);
  }
  BH_TRY(done(turn->run(
      "INSERT INTO images (digest, kind, source, os, arch, config, left_out, ids_kept, bytes,"
      " entries, created_ms) VALUES (?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT (digest) DO NOTHING",
      {image.digest, image.kind, image.source, image.os, image.arch, json::print(image.config),
       json::print(image.left_out), std::int64_t{image.ids_kept}, image.bytes, image.entries,
       image.created_ms})));
  out.fresh = turn->changed() == 1;
  BH_TRY(name_image(*turn, owner, name, image.digest));
  if (!before.empty() && before != image.digest) {
    auto still = is_named(*turn, before);
    if (!still) return tl::unexpected(std::move(still).error());
    auto users = users_of(*turn, before);
    if (!users) return tl::unexpected(std::move(users).error());
    if (!*still && !users->empty()) BH_TRY(name_image(*turn, owner, before, before));
    if (!*still && users->empty()) {
      BH_TRY(done(turn->run("DELETE FROM images WHERE digest=?", {before})));
      out.released = before;
    }
  }
  BH_TRY(turn->commit());
  return out;
}

Result<std::string> ImageRecords::remove(const std::string& owner, const std::string& name,
                                         bool all_owners, std::vector<User>& users) {
  auto turn = db_.write();
  if (!turn) return tl::unexpected(std::move(turn).error());
  auto digests = texts(turn->run(
      "SELECT DISTINCT digest FROM image_names WHERE (owner=?1 OR ?3) AND (name=?2 OR digest=?2)",
      {owner, name, std::int64_t{all_owners}}));
  if (!digests) return tl::unexpected(std::move(digests).error());
  if (digests->empty()) return std::string();
  const std::string digest = digests->front();
  BH_TRY(done(turn->run(
      "DELETE FROM image_names WHERE (owner=?1 OR ?3) AND (name=?2 OR digest=?2)",
      {owner, name, std::int64_t{all_owners}})));
  auto still = is_named(*turn, digest);
  if (!still) return tl::unexpected(std::move(still).error());
  std::string gone;
  if (!*still) {
    auto used = users_of(*turn, digest);
    if (!used) return tl::unexpected(std::move(used).error());
    users = std::move(*used);
    // Not committed: all is as it was.
    if (!users.empty()) return std::string();
    BH_TRY(done(turn->run("DELETE FROM images WHERE digest=?", {digest})));
    gone = digest;
  }
  BH_TRY(turn->commit());
  return gone;
}

Result<std::optional<NamedImage>> ImageRecords::find(const std::string& owner,
                                                     const std::string& name) {
  auto rows = db_.once(BH_NAMED "WHERE n.owner=?1 AND (n.name=?2 OR n.digest=?2) ORDER BY n.name LIMIT 1",
                       {owner, name});
  if (!rows) return tl::unexpected(std::move(rows).error());
  if (rows->empty()) return std::optional<NamedImage>();
  auto found = named_of(rows->front());
  if (!found) return tl::unexpected(std::move(found).error());
  return std::optional<NamedImage>(std::move(*found));
}

Result<std::optional<ImageRecord>> ImageRecords::get(const std::string& digest) {
  auto rows = db_.once("SELECT " BH_IMAGE_COLUMNS " FROM images i WHERE i.digest=?", {digest});
  if (!rows) return tl::unexpected(std::move(rows).error());
  if (rows->empty()) return std::optional<ImageRecord>();
  auto found = image_of(rows->front());
  if (!found) return tl::unexpected(std::move(found).error());
  return std::optional<ImageRecord>(std::move(*found));
}

Result<std::vector<NamedImage>> ImageRecords::list(const std::string& owner, bool all_owners) {
  auto rows = db_.once(BH_NAMED "WHERE n.owner=?1 OR n.owner='' OR ?2 ORDER BY n.owner, n.name",
                       {owner, std::int64_t{all_owners}});
  if (!rows) return tl::unexpected(std::move(rows).error());
  std::vector<NamedImage> out;
  for (const DbRow& row : *rows) {
    auto image = named_of(row);
    if (!image) return tl::unexpected(std::move(image).error());
    out.push_back(std::move(*image));
  }
  return out;
}

Result<std::int64_t> ImageRecords::bytes_of(const std::string& owner) {
  auto turn = db_.read();
  if (!turn) return tl::unexpected(std::move(turn).error());
  return others(*turn, owner, {});
}

}  // namespace bh
