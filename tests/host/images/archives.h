// Archives as the tests of images need them, good and evil: written byte by byte, since no library
// writes the evil ones.
#pragma once

#include <openssl/sha.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

namespace bh_test {

struct TarEntry {
  std::string name;
  std::string data;
  char type = '0';  // as tar has it: 0 file, 1 hard link, 2 link, 3 and 4 devices, 5 folder, 6 FIFO
  std::string link;
  unsigned mode = 0644;
  unsigned uid = 0, gid = 0;
  std::vector<std::pair<std::string, std::string>> pax;  // records before it
  std::int64_t claimed = -1;  // a size other than the data's
};

inline TarEntry file(std::string name, std::string data, unsigned mode = 0644) {
  TarEntry e;
  e.name = std::move(name);
  e.data = std::move(data);
  e.mode = mode;
  return e;
}
inline TarEntry folder(std::string name, unsigned mode = 0755) {
  TarEntry e;
  e.name = std::move(name);
  e.type = '5';
  e.mode = mode;
  return e;
}
inline TarEntry soft_link(std::string name, std::string to) {
  TarEntry e;
  e.name = std::move(name);
  e.type = '2';
  e.link = std::move(to);
  e.mode = 0777;
  return e;
}
inline TarEntry hard_link(std::string name, std::string to) {
  TarEntry e;
  e.name = std::move(name);
  e.type = '1';
  e.link = std::move(to);
  return e;
}
inline TarEntry special(std::string name, char type) {
  TarEntry e;
  e.name = std::move(name);
  e.type = type;
  return e;
}

class Tar {
 public:
  Tar& add(const TarEntry& e) {
    auto pax = e.pax;
    if (e.name.size() > 100) pax.emplace_back("path", e.name);
    if (e.link.size() > 100) pax.emplace_back("linkpath", e.link);
    if (!pax.empty()) {
      std::string records;
      for (const auto& [key, value] : pax) records += record(key, value);
      header("pax", 'x', {}, 0644, 0, 0, static_cast<std::int64_t>(records.size()));
      body(records);
    }
    const bool has_data = e.type == '0';
    const auto size = e.claimed >= 0 ? e.claimed : static_cast<std::int64_t>(e.data.size());
    header(e.name.substr(0, 100), e.type, e.link.substr(0, 100), e.mode, e.uid, e.gid,
           has_data ? size : 0);
    if (has_data) body(e.data);
    return *this;
  }
  // With the two blocks that end it.
  std::string bytes() const { return out_ + std::string(1024, '\0'); }
  std::string without_end() const { return out_; }

 private:
  static std::string record(const std::string& key, const std::string& value) {
    const std::string rest = " " + key + "=" + value + "\n";
    std::size_t size = rest.size() + 1;
    while (std::to_string(size).size() + rest.size() != size) size++;
    return std::to_string(size) + rest;
  }
  void body(const std::string& data) {
    out_ += data;
    out_.append((512 - data.size() % 512) % 512, '\0');
  }
  void header(const std::string& name, char type, const std::string& link, unsigned mode, unsigned uid,
              unsigned gid, std::int64_t size) {
    char block[512] = {};
    std::memcpy(block, name.data(), name.size());
    std::snprintf(block + 100, 8, "%07o", mode);
    std::snprintf(block + 108, 8, "%07o", uid);
    std::snprintf(block + 116, 8, "%07o", gid);
    std::snprintf(block + 124, 12, "%011llo", static_cast<unsigned long long>(size));
    std::snprintf(block + 136, 12, "%011o", 1000000000u);
    std::memset(block + 148, ' ', 8);
    block[156] = type;
    std::memcpy(block + 157, link.data(), link.size());
    std::memcpy(block + 257, "ustar\0" "00", 8);
    unsigned sum = 0;
    for (unsigned char c : block) sum += c;
    std::snprintf(block + 148, 8, "%06o", sum);
    out_.append(block, sizeof block);
  }

  std::string out_;
};

inline std::string tar_of(const std::vector<TarEntry>& entries) {
  Tar tar;
  for (const TarEntry& e : entries) tar.add(e);
  return tar.bytes();
}

inline std::string sha256(const std::string& text) {
  unsigned char raw[SHA256_DIGEST_LENGTH];
  ::SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), raw);
  std::string out;
  char hex[3];
  for (unsigned char c : raw) {
    std::snprintf(hex, sizeof hex, "%02x", c);
    out += hex;
  }
  return out;
}

// How libarchive calls it: "gzip", "xz" …; compressed with it. Empty: this libarchive cannot.
std::string compressed(const std::string& bytes, const std::string& filter);

// An image as files of a layout, to be written as a folder or as a tar.
class LayoutMaker {
 public:
  using Files = std::vector<std::pair<std::string, std::string>>;

  // A layer's bytes as they are stored, and its tar.
  void layer(const std::string& tar, const std::string& stored = {}) {
    layers_.push_back({tar, stored.empty() ? tar : stored});
  }
  std::string config = R"("config":{"Env":["PATH=/bin","A=b"],"WorkingDir":"/w","User":"u"})";
  std::string arch;  // empty: this machine's
  std::string name = "example/app:1";
  std::string prefix;  // of layers' paths in docker's form
  // Mistakes.
  bool swap_diff_ids = false;
  bool lie_about_layer = false;
  bool drop_last_layer = false;

  Files oci() const {
    Files files;
    const std::string configuration = config_text();
    std::string manifest = R"({"schemaVersion":2,"config":)" + descriptor("config", configuration) +
                           R"(,"layers":[)";
    for (std::size_t i = 0; i < layers_.size(); i++) {
      manifest += (i > 0 ? "," : "") + descriptor("layer", layers_[i].stored);
      std::string stored = layers_[i].stored;
      if (lie_about_layer && i == 0) stored = tar_of({file("other", "x")});
      if (!drop_last_layer || i + 1 < layers_.size()) {
        files.emplace_back("blobs/sha256/" + sha256(layers_[i].stored), stored);
      }
    }
    manifest += "]}";
    files.emplace_back("blobs/sha256/" + sha256(configuration), configuration);
    files.emplace_back("blobs/sha256/" + sha256(manifest), manifest);
    files.emplace_back("index.json",
                       R"({"schemaVersion":2,"manifests":[{"mediaType":"application/vnd.oci.image.manifest.v1+json","digest":"sha256:)" +
                           sha256(manifest) + R"(","size":1,"annotations":{"org.opencontainers.image.ref.name":")" +
                           name + "\"}}]}");
    files.emplace_back("oci-layout", R"({"imageLayoutVersion":"1.0.0"})");
    return files;
  }

  // As `docker save` wrote it for years: manifest.json last.
  Files docker() const {
    Files files;
    const std::string configuration = config_text();
    std::string listed;
    for (std::size_t i = 0; i < layers_.size(); i++) {
      const std::string path = prefix + "layer" + std::to_string(i) + "/layer.tar";
      listed += (i > 0 ? ",\"" : "\"") + path + "\"";
      files.emplace_back(path, layers_[i].stored);
    }
    files.emplace_back(sha256(configuration) + ".json", configuration);
    files.emplace_back("manifest.json", R"([{"Config":")" + sha256(configuration) +
                                            R"(.json","RepoTags":[")" + name + R"("],"Layers":[)" + listed +
                                            "]}]");
    return files;
  }

  static std::string as_tar(const Files& files) {
    Tar tar;
    for (const auto& [path, data] : files) tar.add(file(path, data));
    return tar.bytes();
  }

  static void write(const Files& files, const std::string& to) {
    for (const auto& [path, data] : files) {
      const std::filesystem::path whole = to + "/" + path;
      std::filesystem::create_directories(whole.parent_path());
      std::ofstream(whole, std::ios::binary) << data;
    }
  }

 private:
  struct Stored {
    std::string tar, stored;
  };

  std::string config_text() const {
    std::string ids;
    for (std::size_t i = 0; i < layers_.size(); i++) {
      const std::size_t which = swap_diff_ids ? layers_.size() - 1 - i : i;
      ids += (i > 0 ? ",\"sha256:" : "\"sha256:") + sha256(layers_[which].tar) + "\"";
    }
    return R"({"os":"linux","architecture":")" + (arch.empty() ? own_arch() : arch) + "\"," + config +
           R"(,"rootfs":{"type":"layers","diff_ids":[)" + ids + "]}}";
  }
  static std::string own_arch() {
#if defined(__x86_64__)
    return "amd64";
#elif defined(__aarch64__)
    return "arm64";
#else
    return "unknown";
#endif
  }
  static std::string descriptor(const char* kind, const std::string& data) {
    return R"({"mediaType":"application/vnd.oci.image.)" + std::string(kind) + R"(","digest":"sha256:)" +
           sha256(data) + R"(","size":)" + std::to_string(data.size()) + "}";
  }

  std::vector<Stored> layers_;
};

}  // namespace bh_test
