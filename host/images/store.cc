#include "images/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <utility>

#include "base/beneath.h"
#include "core/clock.h"
#include "images/unpack.h"

namespace bh {
namespace {

constexpr char kFolder[] = "images";
constexpr char kRoot[] = "rootfs";
// Whoever changes which folders there are.
constexpr char kLock[] = "images";
// Held by their makers: a folder of that kind whose lock is free belongs to nobody.
constexpr char kNew[] = "new-", kOld[] = "old-";
constexpr std::int64_t kMostBytes = std::int64_t{64} << 30;
constexpr std::size_t kMostName = 255;

std::string folder_name(std::string digest) {
  std::replace(digest.begin(), digest.end(), ':', '-');
  return digest;
}

std::string random_name(const char* kind) {
  unsigned long long random[2] = {};
  (void)!::getrandom(random, sizeof random, 0);
  return kind + std::to_string(random[0]) + std::to_string(random[1]);
}

bool begins(const std::string& text, std::string_view with) {
  return text.compare(0, with.size(), with) == 0;
}

bool is_name(std::string_view name) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
  };
  return !name.empty() && name.size() <= kMostName && plain(name.front()) &&
         name.substr(0, 7) != "sha256:" && name.substr(0, 7) != "sha512:" &&
         std::all_of(name.begin(), name.end(), [&](char c) {
           return plain(c) || std::string_view("._/:@+-").find(c) != std::string_view::npos;
         });
}

Result<void> check_name(const std::string& name) {
  if (name.empty() || is_name(name)) return {};
  return fail(BH_INVALID_ARGUMENT,
              json::quote(name.substr(0, 80)) +
                  " is no name for an image: 1 to 255 of letters, digits and . _ / : @ + -, first a "
                  "letter or digit",
              "image_name", {{"field", "/name"}});
}

// "debian.tar.gz" is called debian.
std::string name_of_file(const std::string& path) {
  std::string name = path;
  while (name.size() > 1 && name.back() == '/') name.pop_back();
  name = name.substr(name.rfind('/') + 1);
  for (const char* end : {".gz", ".xz", ".zst", ".bz2", ".lz4", ".lzma", ".Z", ".tgz", ".txz", ".tar"}) {
    const std::string_view tail = end;
    if (name.size() > tail.size() && std::string_view(name).substr(name.size() - tail.size()) == tail) {
      name.resize(name.size() - tail.size());
    }
  }
  return is_name(name) ? name : std::string();
}

// As OCI names this machine's processor.
std::string machine() {
  utsname u{};
  if (::uname(&u) != 0) return {};
  const std::string name = u.machine;
  if (name == "x86_64") return "amd64";
  if (name == "aarch64") return "arm64";
  if (name == "i686" || name == "i386") return "386";
  if (begins(name, "arm")) return "arm";
  return name;
}

Result<void> add_platform(const std::string& platform, json::object& options) {
  options["os"] = "linux";
  options["arch"] = machine();
  if (platform.empty()) return {};
  const std::size_t slash = platform.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == platform.size()) {
    return fail(BH_INVALID_ARGUMENT, json::quote(platform) + " is no platform, as linux/amd64 is one",
                "schema", {{"field", "/platform"}});
  }
  options["os"] = platform.substr(0, slash);
  options["arch"] = platform.substr(slash + 1);
  return {};
}

Result<Fd> open_source(const std::string& path) {
  const auto refused = [&](const std::string& why, bh_status code) {
    return fail(code, "the image " + json::quote(path) + " cannot be read: " + why, "source",
                {{"field", "/path"}});
  };
  if (path[0] != '/') return refused("it is not an absolute path", BH_INVALID_ARGUMENT);
  Fd source(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat st {};
  if (!source || ::fstat(source.get(), &st) != 0) {
    const Error error = fail_errno(errno, path).value();
    return refused(error.message, error.code);
  }
  if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
    return refused("it is neither a file nor a folder", BH_FAILED_PRECONDITION);
  }
  return source;
}

std::vector<std::string> names_in(int root) {
  std::vector<std::string> out;
  auto folder = open_beneath(root, kFolder, O_RDONLY | O_DIRECTORY);
  if (!folder) return out;
  const std::unique_ptr<DIR, int (*)(DIR*)> dir(::fdopendir(folder->get()), ::closedir);
  if (!dir) return out;
  (void)folder->release();
  while (const dirent* entry = ::readdir(dir.get())) out.emplace_back(entry->d_name);
  return out;
}

Result<void> check_owner(const Session& session, const char* what) {
  if (session.is_operator) return {};
  return fail(BH_PERMISSION_DENIED, what, "image_denied",
              {{"remedy", "send the image's bytes as input, or ask the operator"}});
}

// Names of sandboxes that are none of the session's business stay unsaid.
Failure in_use(const Session& session, const std::string& image,
               const std::vector<ImageRecords::User>& users) {
  std::string named;
  for (const ImageRecords::User& user : users) {
    if (!session.is_operator && user.persona != session.persona) continue;
    named += (named.empty() ? "" : ", ") + user.sandbox;
  }
  if (named.empty()) named = "another persona's sandbox";
  return fail(BH_FAILED_PRECONDITION, "the image " + json::quote(image) + " is in use by " + named,
              "image_in_use",
              {{"image", image}, {"sandboxes", named}, {"remedy", "kill these sandboxes first"}});
}

}  // namespace

std::string image_owner(const Session& session) {
  return session.is_operator ? std::string() : session.persona;
}

// A folder of ours whose lock goes with the last process that works in it, the worker among them.
struct ImageStore::Temporary {
  const ImageStore* store = nullptr;
  std::string name;
  Fd folder;

  Temporary() = default;
  Temporary(Temporary&& other) noexcept
      : store(std::exchange(other.store, nullptr)), name(std::move(other.name)),
        folder(std::move(other.folder)) {}
  Temporary& operator=(Temporary&&) = delete;
  ~Temporary() {
    if (store != nullptr) {
      (void)remove_beneath(store->root_.fd(), std::string(kFolder) + "/" + name);
    }
  }
};

ImageStore::ImageStore(const DataRoot& root, const ImagesSettings& settings, ImageRecords& records,
                       std::string helper)
    : root_(root), settings_(settings), records_(records), helper_(std::move(helper)) {}

std::string ImageStore::root_of(const std::string& digest) const {
  return root_.path() + "/" + kFolder + "/" + folder_name(digest) + "/" + kRoot;
}

Result<bool> ImageStore::is_there(const std::string& digest) {
  auto found = records_.get(digest);
  if (!found) return tl::unexpected(std::move(found).error());
  return found->has_value();
}

Result<ImageStore::Temporary> ImageStore::make_temporary(const char* kind) {
  for (int tries = 0; tries < 10; tries++) {
    Temporary made;
    const std::string name = random_name(kind);
    const std::string path = std::string(kFolder) + "/" + name;
    auto folder = make_folder_beneath(root_.fd(), path, 0700);
    if (!folder) return tl::unexpected(folder.error().within("the image store"));
    // A sweep may have come between the two, and taken it for what somebody left.
    struct stat st {};
    if (::flock(folder->get(), LOCK_EX | LOCK_NB) != 0 ||
        ::fstatat(root_.fd(), path.c_str(), &st, AT_SYMLINK_NOFOLLOW) != 0) {
      continue;
    }
    made.store = this;
    made.name = name;
    made.folder = std::move(*folder);
    return made;
  }
  return fail(BH_UNAVAILABLE, "the image store is swept by another process; try again", "busy");
}

void ImageStore::sweep() {
  const std::vector<std::string> names = names_in(root_.fd());
  if (names.empty()) return;
  auto folder = open_beneath(root_.fd(), kFolder, O_RDONLY | O_DIRECTORY);
  if (!folder) return;
  for (const std::string& name : names) {
    if (!begins(name, kNew) && !begins(name, kOld)) continue;
    auto left = open_beneath(folder->get(), name, O_RDONLY | O_DIRECTORY);
    if (!left || ::flock(left->get(), LOCK_EX | LOCK_NB) != 0) continue;
    (void)remove_beneath(folder->get(), name);
  }
}

// Whoever is killed between a folder and its record leaves one without the other. With the lock.
void ImageStore::sweep_nameless() {
  for (const std::string& name : names_in(root_.fd())) {
    if (!begins(name, "sha256-") && !begins(name, "sha512-")) continue;
    std::string digest = name;
    digest[6] = ':';
    auto known = is_there(digest);
    if (known && !*known) (void)remove_beneath(root_.fd(), std::string(kFolder) + "/" + name);
  }
}

Result<ImageStore::Imported> ImageStore::import(Call& call, const ImageWish& wish) {
  BH_TRY(check_name(wish.name));
  const std::string owner = image_owner(call.session());
  UnpackJob job;
  job.helper = helper_;
  Fd source;
  if (!wish.path.empty()) {
    BH_TRY(check_owner(call.session(), "only the operator's session imports paths of the host"));
    auto opened = open_source(wish.path);
    if (!opened) return tl::unexpected(std::move(opened).error());
    source = std::move(*opened);
    job.source = source.get();
  }
  // What is left of it is known when the image is: it may be there already.
  const bool limited = settings_.max_bytes > 0 && settings_.max_bytes < kMostBytes;
  job.options["bytes"] = limited ? settings_.max_bytes : kMostBytes;
  if (!wish.reference.empty()) job.options["reference"] = wish.reference;
  BH_TRY(add_platform(wish.platform, job.options));
  sweep();
  auto made = make_temporary(kNew);
  if (!made) return tl::unexpected(std::move(made).error());
  job.target = made->folder.get();
  auto told = unpack_image(call, job);
  if (!told) {
    if (!limited || told.error().details.find("\"bytes=") == std::string::npos) {
      return tl::unexpected(std::move(told).error());
    }
    auto taken = records_.bytes_of(owner);
    if (!taken) return tl::unexpected(std::move(taken).error());
    return image_quota(settings_.max_bytes, *taken);
  }
  return keep(owner, wish, std::move(*told), *made);
}

Result<ImageStore::Imported> ImageStore::keep(const std::string& owner, const ImageWish& wish,
                                              json::object told, Temporary& made) {
  Imported out;
  NamedImage& image = out.image;
  image.digest = json::get_string(told, "digest");
  image.kind = json::get_string(told, "kind");
  image.source = wish.path;
  image.os = json::get_string(told, "os");
  image.arch = json::get_string(told, "arch");
  if (const json::object* config = json::get_object(told, "config")) image.config = *config;
  if (const json::object* left_out = json::get_object(told, "left_out")) image.left_out = *left_out;
  if (const json::object* walls = json::get_object(told, "walls")) out.walls = *walls;
  image.ids_kept = json::get_bool(told, "ids_kept");
  image.bytes = json::get_int(told, "bytes");
  image.entries = json::get_int(told, "entries");
  image.created_ms = wall_ns() / 1'000'000;
  image.owner = owner;
  image.name = wish.name;
  if (const json::array* names = json::get_array(told, "names")) {
    for (const json::value& v : *names) {
      if (image.name.empty() && v.is_string() && is_name(v.get_string())) image.name = v.get_string();
    }
  }
  if (image.name.empty()) image.name = name_of_file(wish.path);
  if (image.name.empty()) image.name = image.digest;
  // Whole on the disk before a record says that it is there.
  if (::syncfs(made.folder.get()) != 0) return fail_errno(errno, "writing the image to the disk");
  auto lock = NameLock::take(root_, kLock);
  if (!lock) return tl::unexpected(std::move(lock).error());
  auto known = is_there(image.digest);
  if (!known) return tl::unexpected(std::move(known).error());
  const std::string whole = std::string(kFolder) + "/" + folder_name(image.digest);
  sweep_nameless();
  if (!*known) {
    const std::string from = std::string(kFolder) + "/" + made.name;
    if (::renameat(root_.fd(), from.c_str(), root_.fd(), whole.c_str()) != 0) {
      return fail_errno(errno, "the image store");
    }
    made.name = folder_name(image.digest);
  }
  auto added = records_.add(image, owner, image.name, wish.replace, settings_.max_bytes);
  if (!added) return tl::unexpected(std::move(added).error());
  if (!*known) made.store = nullptr;  // it stays
  out.fresh = added->fresh;
  if (!added->released.empty()) discard(added->released);
  if (!out.fresh) {
    // As it was recorded by who was first.
    auto first = records_.find(owner, image.name);
    if (first && *first) image = std::move(**first);
  }
  return out;
}

// Out of the way first, so that the lock is not held while a large tree goes.
void ImageStore::discard(const std::string& digest) {
  auto old = make_temporary(kOld);
  if (!old) return;
  const std::string from = std::string(kFolder) + "/" + folder_name(digest);
  const std::string to = std::string(kFolder) + "/" + old->name + "/" + kRoot;
  (void)::renameat(root_.fd(), from.c_str(), root_.fd(), to.c_str());
}

Failure ImageStore::unknown(const Session& session, const std::string& image) {
  std::string known;
  if (auto all = list(session)) {
    for (const NamedImage& one : *all) known += (known.empty() ? "" : ", ") + one.name;
  }
  if (known.empty()) known = "none";
  return fail(BH_NOT_FOUND, "there is no image " + json::quote(image) + "; known are: " + known,
              "image_unknown", {{"field", "/image"}, {"image", image}, {"known", known}});
}

Result<NamedImage> ImageStore::find(const Session& session, const std::string& image) {
  for (const std::string& owner : {image_owner(session), std::string()}) {
    auto found = records_.find(owner, image);
    if (!found) return tl::unexpected(std::move(found).error());
    if (*found) return std::move(**found);
  }
  if (session.is_operator) {
    auto all = records_.list({}, true);
    if (!all) return tl::unexpected(std::move(all).error());
    for (NamedImage& one : *all) {
      if (one.digest == image) return std::move(one);
    }
  }
  return unknown(session, image);
}

Result<std::vector<NamedImage>> ImageStore::list(const Session& session) {
  return records_.list(image_owner(session), session.is_operator);
}

Result<std::string> ImageStore::remove(const Session& session, const std::string& image) {
  auto found = find(session, image);
  if (!found) return tl::unexpected(std::move(found).error());
  if (!session.is_operator && found->owner != session.persona) {
    return fail(BH_PERMISSION_DENIED,
                "the image " + json::quote(image) + " is shared by the operator, who alone removes it",
                "image_denied", {{"image", image}});
  }
  auto lock = NameLock::take(root_, kLock);
  if (!lock) return tl::unexpected(std::move(lock).error());
  std::vector<ImageRecords::User> users;
  const bool everybodys = session.is_operator && image == found->digest;
  auto gone = records_.remove(image_owner(session), image, everybodys, users);
  if (!gone) return gone;
  if (!users.empty()) return in_use(session, image, users);
  if (!gone->empty()) discard(*gone);
  return gone;
}

}  // namespace bh
