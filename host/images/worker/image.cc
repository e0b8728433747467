#include "images/worker/image.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/fd.h"
#include "images/worker/folder.h"
#include "images/worker/layout.h"
#include "images/worker/path.h"
#include "images/worker/stream.h"
#include "images/worker/tar.h"
#include "images/worker/tree.h"

namespace bh::unpack {
namespace {

constexpr char kRoot[] = "rootfs";
// Where an archive turns out to hold a layout, it lies there while its layers are unpacked.
constexpr char kLayout[] = "layout";

Result<Fd> make_root(int target) {
  if (::mkdirat(target, kRoot, 0755) != 0) return write_failed(errno, kRoot);
  Fd root(open_at(target, kRoot, O_RDONLY | O_DIRECTORY));
  if (!root) return write_failed(errno, kRoot);
  return root;
}

Result<void> apply_layer(int layout, const Layer& layer, Tree& tree, Job& job) {
  Hash::Kind packed = Hash::Kind::kSha256, unpacked = Hash::Kind::kSha256;
  (void)is_digest(layer.digest, &packed);
  (void)is_digest(layer.diff_id, &unpacked);
  auto blob = open_blob(layout, layer.path);
  if (!blob) return tl::unexpected(std::move(blob).error());
  tree.begin_layer();
  Stream stream(blob->get(), job, packed, unpacked);
  BH_TRY(stream.open());
  BH_TRY(unpack_tar(stream, tree, job, TarKind::kLayer));
  if (const std::string is = stream.packed_digest(); !layer.digest.empty() && is != layer.digest) {
    return broken(layer.path, "its digest is " + is);
  }
  if (const std::string is = stream.unpacked_digest(); is != layer.diff_id) {
    return broken(layer.path, "the digest of its content is " + is + ", not " + layer.diff_id);
  }
  return {};
}

json::object told_of(const Layout& image) {
  json::array names;
  for (const std::string& name : image.names) names.emplace_back(name);
  return {{"kind", image.kind},     {"digest", image.digest}, {"os", image.os},
          {"arch", image.arch},     {"config", image.config}, {"names", std::move(names)},
          {"layers", image.layers.size()}};
}

Result<json::object> from_layout(int layout, const Layout& image, int root, Job& job) {
  Tree tree(root, job, true);
  // The layers count, not the archive that they came in.
  job.counts = {};
  for (const Layer& layer : image.layers) BH_TRY(apply_layer(layout, layer, tree, job));
  BH_TRY(tree.finish());
  return told_of(image);
}

Result<json::object> from_folder(int source, int root, Job& job) {
  auto image = read_layout(source, job);
  if (!image) return tl::unexpected(std::move(image).error());
  if (*image) return from_layout(source, **image, root, job);
  Tree tree(root, job, false);
  BH_TRY(copy_folder(source, tree, job));
  BH_TRY(tree.finish());
  return json::object{{"kind", "folder"}};
}

// Unpacked as a root, and looked at then: what it is, its last entry may say, and a pipe cannot be
// read twice.
Result<json::object> from_archive(int source, int target, Fd root, Job& job) {
  Stream stream(source, job, Hash::Kind::kSha256, Hash::Kind::kSha256);
  BH_TRY(stream.open());
  Tree tree(root.get(), job, false);
  BH_TRY(unpack_tar(stream, tree, job, TarKind::kRoot));
  BH_TRY(tree.finish());
  auto image = read_layout(root.get(), job);
  if (!image) return tl::unexpected(std::move(image).error());
  if (!*image) {
    if (!stream.ends_in_zeros()) return broken({}, "its end is missing");
    return json::object{{"kind", "tar"}, {"digest", stream.packed_digest()}};
  }
  if (::renameat(target, kRoot, target, kLayout) != 0) return write_failed(errno, kLayout);
  auto fresh = make_root(target);
  if (!fresh) return tl::unexpected(std::move(fresh).error());
  auto done = from_layout(root.get(), **image, fresh->get(), job);
  if (!done) return done;
  BH_TRY(remove_tree(target, kLayout));
  return done;
}

}  // namespace

Result<json::object> unpack_image(int source, int target, Job& job) {
  struct stat st {};
  if (::fstat(source, &st) != 0) return fail_errno(errno, "looking at the source");
  auto root = make_root(target);
  if (!root) return tl::unexpected(std::move(root).error());
  auto done = S_ISDIR(st.st_mode) ? from_folder(source, root->get(), job)
                                  : from_archive(source, target, std::move(*root), job);
  if (!done) return done;
  const Fd made(open_at(target, kRoot, O_RDONLY | O_DIRECTORY));
  if (!made) return write_failed(errno, kRoot);
  auto seen = survey(made.get(), !done->contains("digest"));
  if (!seen) return tl::unexpected(std::move(seen).error());
  if (seen->entries == 0) return broken({}, "it holds no file");
  if (!done->contains("digest")) (*done)["digest"] = seen->digest;
  (*done)["bytes"] = seen->bytes;
  (*done)["entries"] = seen->entries;
  (*done)["ids_kept"] = job.keep_ids;
  (*done)["left_out"] = {{"devices", job.counts.devices},
                         {"set_ids", job.counts.set_ids},
                         {"xattrs", job.counts.xattrs}};
  return done;
}

}  // namespace bh::unpack
