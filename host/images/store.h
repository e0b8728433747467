// The image store: DATA_ROOT/images, which nobody but the host's user can enter. An image is a folder
// named by its digest, unpacked once and never changed; its names are in the database.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/fd.h"
#include "base/json.h"
#include "core/call.h"
#include "core/session.h"
#include "images/settings.h"
#include "state/data_root.h"
#include "state/image_records.h"

namespace bh {

// What is to be imported.
struct ImageWish {
  std::string path;       // of the host, the operator's alone; empty: the call's input
  std::string name;       // empty: what the image calls itself, else its file's name, else its digest
  std::string reference;  // which of several images
  std::string platform;   // "linux/amd64"; empty: this machine's
  bool replace = false;   // the name may be another image's
};

// Whose images a session sees: a persona its own and those that the operator shares; the operator all,
// by name the shared ones. What belongs to another persona is as if it were not there. A persona
// imports what it sends, never a path of the host, and removes its own alone.
//
// All [any] [blocking]. Errors beside those of ImageRecords: image_unknown (`known`), image_name,
// image_denied, image_in_use (`sandboxes`), and those of unpack_image().
class ImageStore {
 public:
  // `helper`: the program that unpacks; empty: the one that was installed with us.
  ImageStore(const DataRoot& root, const ImagesSettings& settings, ImageRecords& records,
             std::string helper = {});

  // Removes what a process that was killed left half-made or half-removed. What lives is left alone.
  void sweep();

  struct Imported {
    NamedImage image;
    bool fresh = false;  // it was not there before, under any name
    json::object walls;  // what held around the worker
  };
  Result<Imported> import(Call& call, const ImageWish& wish);

  // By name or digest.
  Result<NamedImage> find(const Session& session, const std::string& image);
  Result<std::vector<NamedImage>> list(const Session& session);
  // The image itself goes with its last name; the digest then, else empty.
  Result<std::string> remove(const Session& session, const std::string& image);

  // Where its root lies: an absolute path.
  std::string root_of(const std::string& digest) const;
  // False: it is not there any more.
  Result<bool> is_there(const std::string& digest);

 private:
  struct Temporary;
  Result<Temporary> make_temporary(const char* kind);
  Result<Imported> keep(const std::string& owner, const ImageWish& wish, json::object told,
                        Temporary& made);
  void discard(const std::string& digest);
  void sweep_nameless();
  Failure unknown(const Session& session, const std::string& image);

  const DataRoot& root_;
  const ImagesSettings& settings_;
  ImageRecords& records_;
  const std::string helper_;
};

// Whose images a session imports: empty for the operator.
std::string image_owner(const Session& session);

}  // namespace bh
