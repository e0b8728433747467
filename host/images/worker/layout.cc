#include "images/worker/layout.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "images/worker/hash.h"
#include "images/worker/path.h"

namespace bh::unpack {
namespace {

constexpr std::int64_t kMostJson = 8 << 20;
constexpr std::size_t kMostConfig = 256u << 10;  // of what is kept of it
constexpr int kMostIndexes = 4;  // one inside the other
constexpr std::size_t kMostLayers = 512;

Failure faulty(const std::string& path, const std::string& what) { return broken(path, what); }

Result<std::string> read_whole(int folder, const std::string& path) {
  auto file = open_blob(folder, path);
  if (!file) return tl::unexpected(std::move(file).error());
  std::string out;
  char buffer[65536];
  for (;;) {
    const ssize_t got = ::read(file->get(), buffer, sizeof buffer);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return fail_errno(errno, "reading " + shown(path));
    if (got == 0) return out;
    out.append(buffer, static_cast<std::size_t>(got));
    if (static_cast<std::int64_t>(out.size()) > kMostJson) {
      return too_large(shown(path) + " is longer than " + std::to_string(kMostJson) + " bytes",
                       "json=" + std::to_string(kMostJson));
    }
  }
}

Result<json::object> object_of(const std::string& path, const std::string& text) {
  auto parsed = json::parse_object(text);
  if (!parsed) return faulty(path, parsed.error().message);
  return parsed;
}

std::string text_of(const json::object& o, std::string_view key) {
  return std::string(json::get_string(o, key));
}

Result<std::string> blob_path(const std::string& digest) {
  Hash::Kind kind;
  if (!is_digest(digest, &kind)) return faulty({}, shown(digest) + " is no digest that can be checked");
  return "blobs/" + digest.substr(0, 6) + "/" + digest.substr(7);
}

// The blob of that digest, whose bytes have to agree with it.
Result<std::string> read_blob(int folder, const std::string& digest) {
  auto path = blob_path(digest);
  if (!path) return path;
  auto text = read_whole(folder, *path);
  if (!text) return text;
  Hash hash(digest[3] == '2' ? Hash::Kind::kSha256 : Hash::Kind::kSha512);
  hash.add(text->data(), text->size());
  if (const std::string is = hash.digest(); is != digest) {
    return faulty(*path, "its digest is " + is);
  }
  return text;
}

// What is kept of how it wants to be run, and the digests of its layers' tars.
Result<std::vector<std::string>> take_config(const std::string& path, const std::string& text,
                                             Layout& out) {
  auto config = object_of(path, text);
  if (!config) return tl::unexpected(std::move(config).error());
  // A text that is a manifest, too, would be two images under one digest.
  if (config->contains("schemaVersion")) return faulty(path, "a manifest stands in for a configuration");
  out.os = text_of(*config, "os");
  out.arch = text_of(*config, "architecture");
  if (const json::object* run = json::get_object(*config, "config")) {
    for (const char* key : {"Env", "WorkingDir", "User", "Entrypoint", "Cmd"}) {
      const json::value* v = run->if_contains(key);
      if (v != nullptr && !v->is_null()) out.config[key] = *v;
    }
  }
  if (json::print(out.config).size() > kMostConfig) {
    return too_large("its configuration is too long", "config=" + std::to_string(kMostConfig));
  }
  std::vector<std::string> ids;
  const json::object* rootfs = json::get_object(*config, "rootfs");
  const json::array* listed = rootfs != nullptr ? json::get_array(*rootfs, "diff_ids") : nullptr;
  if (listed == nullptr) return faulty(path, "it lists no rootfs.diff_ids");
  for (const json::value& v : *listed) {
    Hash::Kind kind;
    const std::string id(v.is_string() ? std::string_view(v.get_string()) : std::string_view());
    if (!is_digest(id, &kind)) return faulty(path, "one of rootfs.diff_ids is no digest");
    ids.push_back(id);
  }
  return ids;
}

Result<void> check_layers(const std::string& path, std::size_t layers, std::size_t ids) {
  if (layers != ids) {
    return faulty(path, "it names " + std::to_string(layers) + " layers, its configuration " +
                            std::to_string(ids));
  }
  if (layers == 0) return faulty(path, "it has no layers");
  if (layers > kMostLayers) {
    return too_large("it has " + std::to_string(layers) + " layers",
                     "layers=" + std::to_string(kMostLayers));
  }
  return {};
}

std::string platform_of(const std::string& os, const std::string& arch) { return os + "/" + arch; }

Result<void> check_platform(const Layout& image, const Job& job) {
  if ((image.os.empty() || image.os == job.os) && (image.arch.empty() || image.arch == job.arch)) {
    return {};
  }
  return fail(BH_FAILED_PRECONDITION,
              "the image is for " + platform_of(image.os, image.arch) + ", not for " +
                  platform_of(job.os, job.arch),
              "image_platform",
              {{"known", platform_of(image.os, image.arch)},
               {"remedy", "take the image for this machine, or name the platform to import it anyhow"}});
}

std::string list_of(const std::set<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out.empty() ? "none" : out;
}

Failure ambiguous(const std::set<std::string>& names, const Job& job) {
  const bool none = !job.reference.empty();
  return fail(BH_INVALID_ARGUMENT,
              none ? "it holds no image " + shown(job.reference) + ", but: " + list_of(names)
                   : "it holds several images: " + list_of(names),
              "image_ambiguous",
              {{"field", "/reference"}, {"known", list_of(names)}, {"remedy", "name one as reference"}});
}

bool is_called(const std::string& name, const std::string& wanted) {
  if (name == wanted) return true;
  const std::size_t colon = name.rfind(':');
  return colon != std::string::npos && name.substr(colon + 1) == wanted;
}

// The entries of an index that may be meant, those of nested ones among them.
class Index {
 public:
  Index(int folder, const Job& job) : folder_(folder), job_(job) {}

  Result<Layout> choose() {
    auto text = read_whole(folder_, "index.json");
    if (!text) return tl::unexpected(std::move(text).error());
    BH_TRY(collect("index.json", *text, {}, 0));
    std::set<std::string> digests;
    for (const Found& one : found_) digests.insert(one.digest);
    if (digests.empty() && !others_.empty()) {
      return fail(BH_FAILED_PRECONDITION,
                  "it has no image for " + platform_of(job_.os, job_.arch) + ", but for: " +
                      list_of(others_),
                  "image_platform",
                  {{"known", list_of(others_)}, {"remedy", "name one of these as platform"}});
    }
    if (digests.size() != 1) return ambiguous(names_, job_);
    return manifest(found_.front());
  }

 private:
  struct Found {
    std::string digest;
    std::string name;
  };

  Result<void> collect(const std::string& path, const std::string& text, const std::string& above,
                       int depth) {
    if (depth > kMostIndexes) return faulty(path, "its indexes are nested too deep");
    auto index = object_of(path, text);
    if (!index) return tl::unexpected(std::move(index).error());
    const json::array* list = json::get_array(*index, "manifests");
    if (list == nullptr) return faulty(path, "it lists no manifests");
    for (const json::value& v : *list) {
      const json::object* one = v.if_object();
      if (one == nullptr) return faulty(path, "one of its manifests is no object");
      BH_TRY(consider(path, *one, above, depth));
    }
    return {};
  }

  Result<void> consider(const std::string& path, const json::object& one, const std::string& above,
                        int depth) {
    std::string name = above;
    if (const json::object* notes = json::get_object(one, "annotations")) {
      if (notes->contains("vnd.docker.reference.type")) return {};  // signatures and their like
      for (const char* key : {"io.containerd.image.name", "org.opencontainers.image.ref.name"}) {
        if (name.empty()) name = text_of(*notes, key);
      }
    }
    if (!name.empty()) names_.insert(name);
    if (!job_.reference.empty() && depth == 0 && !is_called(name, job_.reference)) return {};
    const std::string digest = text_of(one, "digest");
    const std::string type = text_of(one, "mediaType");
    if (const json::object* platform = json::get_object(one, "platform")) {
      const std::string os = text_of(*platform, "os"), arch = text_of(*platform, "architecture");
      if (os != job_.os || arch != job_.arch) {
        if (os != "unknown") others_.insert(platform_of(os, arch));
        return {};
      }
    }
    if (type.find("image.index") != type.npos || type.find("manifest.list") != type.npos) {
      auto text = read_blob(folder_, digest);
      if (!text) return tl::unexpected(std::move(text).error());
      return collect(path, *text, name, depth + 1);
    }
    found_.push_back({digest, name});
    return {};
  }

  Result<Layout> manifest(const Found& found) {
    Layout out;
    out.kind = "oci";
    out.digest = found.digest;
    if (!found.name.empty()) out.names.push_back(found.name);
    auto text = read_blob(folder_, found.digest);
    if (!text) return tl::unexpected(std::move(text).error());
    auto manifest = object_of(found.digest, *text);
    if (!manifest) return tl::unexpected(std::move(manifest).error());
    const json::object* config = json::get_object(*manifest, "config");
    const json::array* layers = json::get_array(*manifest, "layers");
    if (json::get_int(*manifest, "schemaVersion") != 2 || config == nullptr || layers == nullptr) {
      return faulty(found.digest, "it is no manifest of an image");
    }
    auto config_text = read_blob(folder_, text_of(*config, "digest"));
    if (!config_text) return tl::unexpected(std::move(config_text).error());
    auto ids = take_config(text_of(*config, "digest"), *config_text, out);
    if (!ids) return tl::unexpected(std::move(ids).error());
    BH_TRY(check_layers(found.digest, layers->size(), ids->size()));
    for (std::size_t i = 0; i < layers->size(); i++) {
      const json::object* layer = layers->at(i).if_object();
      if (layer == nullptr) return faulty(found.digest, "one of its layers is no object");
      const std::string digest = text_of(*layer, "digest");
      auto path = blob_path(digest);
      if (!path) return tl::unexpected(std::move(path).error());
      out.layers.push_back({*path, digest, ids->at(i)});
    }
    BH_TRY(check_platform(out, job_));
    return out;
  }

  const int folder_;
  const Job& job_;
  std::vector<Found> found_;
  std::set<std::string> names_, others_;
};

// One of manifest.json's entries is what docker saved; null: the file is somebody else's.
const json::object* docker_entry(const json::value& v) {
  const json::object* o = v.if_object();
  return o != nullptr && json::get_array(*o, "Layers") != nullptr && o->contains("Config") ? o : nullptr;
}

std::vector<std::string> tags_of(const json::object& entry) {
  std::vector<std::string> out;
  if (const json::array* tags = json::get_array(entry, "RepoTags")) {
    for (const json::value& tag : *tags) {
      if (tag.is_string()) out.emplace_back(std::string_view(tag.get_string()));
    }
  }
  return out;
}

Result<Layout> read_docker(int folder, const json::array& entries, const Job& job) {
  std::vector<const json::object*> meant;
  std::set<std::string> names;
  for (const json::value& v : entries) {
    const json::object* entry = docker_entry(v);
    if (entry == nullptr) return faulty("manifest.json", "one of its entries is no image");
    const auto tags = tags_of(*entry);
    names.insert(tags.begin(), tags.end());
    const bool called = std::any_of(tags.begin(), tags.end(), [&](const std::string& tag) {
      return is_called(tag, job.reference);
    });
    if (job.reference.empty() || called) meant.push_back(entry);
  }
  if (meant.size() != 1) return ambiguous(names, job);
  Layout out;
  out.kind = "docker";
  out.names = tags_of(*meant.front());
  const std::string config = text_of(*meant.front(), "Config");
  auto text = read_whole(folder, config);
  if (!text) return tl::unexpected(std::move(text).error());
  out.digest = sha256(*text);
  // It is called by its digest, in either of docker's ways.
  if (config.find(out.digest.substr(7)) == config.npos) {
    return faulty(config, "its digest is " + out.digest);
  }
  auto ids = take_config(config, *text, out);
  if (!ids) return tl::unexpected(std::move(ids).error());
  const json::array& layers = *json::get_array(*meant.front(), "Layers");
  BH_TRY(check_layers("manifest.json", layers.size(), ids->size()));
  for (std::size_t i = 0; i < layers.size(); i++) {
    if (!layers[i].is_string()) return faulty("manifest.json", "one of its layers is no text");
    out.layers.push_back({std::string(std::string_view(layers[i].get_string())), {}, ids->at(i)});
  }
  BH_TRY(check_platform(out, job));
  return out;
}

bool has(int folder, const char* name) {
  struct stat st {};
  return ::fstatat(folder, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode);
}

}  // namespace

Result<Fd> open_blob(int folder, const std::string& path) {
  open_how how{};
  how.flags = O_RDONLY | O_NONBLOCK | O_CLOEXEC;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  Fd file(static_cast<int>(::syscall(SYS_openat2, folder, path.c_str(), &how, sizeof how)));
  struct stat st {};
  if (!file || ::fstat(file.get(), &st) != 0) {
    if (errno == EXDEV) return unsafe(path, "leads out of the image");
    if (errno == ENOENT) return faulty(path, "it is not there");
    return fail_errno(errno, "reading " + shown(path));
  }
  if (!S_ISREG(st.st_mode)) return faulty(path, "it is no file");
  return file;
}

Result<std::optional<Layout>> read_layout(int folder, const Job& job) {
  if (has(folder, "oci-layout") && has(folder, "index.json")) {
    auto image = Index(folder, job).choose();
    if (!image) return tl::unexpected(std::move(image).error());
    return std::optional<Layout>(std::move(*image));
  }
  if (!has(folder, "manifest.json")) return std::optional<Layout>();
  auto text = read_whole(folder, "manifest.json");
  if (!text) return tl::unexpected(std::move(text).error());
  // A root may have a file of that name, too.
  auto parsed = json::parse(*text);
  const json::array* entries = parsed ? parsed->if_array() : nullptr;
  if (entries == nullptr || entries->empty() || docker_entry(entries->front()) == nullptr) {
    return std::optional<Layout>();
  }
  auto image = read_docker(folder, *entries, job);
  if (!image) return tl::unexpected(std::move(image).error());
  return std::optional<Layout>(std::move(*image));
}

}  // namespace bh::unpack
