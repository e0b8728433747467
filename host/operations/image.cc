// image.import, .list, .inspect and .remove: what sandboxes can start from.
#include "operations/catalogue.h"
#include "operations/rooms.h"

namespace bh {
namespace {

json::value or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

// An image without a name of its own is called by its digest.
json::object item_of(const Session& session, const NamedImage& image) {
  json::object out;
  out["name"] = image.name == image.digest ? json::value(nullptr) : json::value(image.name);
  out["digest"] = image.digest;
  out["kind"] = image.kind;
  out["size"] = image.bytes;
  out["entries"] = image.entries;
  out["created_ms"] = image.created_ms;
  out["os"] = or_null(image.os);
  out["arch"] = or_null(image.arch);
  out["shared"] = image.owner.empty();
  if (session.is_operator) {
    out["persona"] = or_null(image.owner);
    out["source"] = or_null(image.source);
  }
  return out;
}

json::object whole_of(const Session& session, NamedImage image) {
  json::object out = item_of(session, image);
  out["config"] = std::move(image.config);
  out["ids_kept"] = image.ids_kept;
  out["left_out"] = std::move(image.left_out);
  return out;
}

std::string image_of(const Arguments& args) {
  return std::string(json::get_string(args.values, "image"));
}

Result<void> import(Call& call, const Arguments& args) {
  ImageWish wish;
  wish.path = json::get_string(args.values, "path");
  wish.name = json::get_string(args.values, "name");
  wish.reference = json::get_string(args.values, "reference");
  wish.platform = json::get_string(args.values, "platform");
  wish.replace = json::get_bool(args.values, "replace");
  if (wish.path.empty() && !call.input().announced()) {
    return fail(BH_INVALID_ARGUMENT, "there is no image: give \"path\", or the bytes of an archive as input",
                "schema", {{"field", "/path"}});
  }
  auto done = rooms_of(call).images.import(call, wish);
  if (!done) return tl::unexpected(std::move(done).error());
  json::object out = whole_of(call.session(), std::move(done->image));
  out["fresh"] = done->fresh;
  out["walls"] = std::move(done->walls);
  return call.set_result(json::print(out));
}

Result<void> list(Call& call, const Arguments&) {
  auto all = rooms_of(call).images.list(call.session());
  if (!all) return tl::unexpected(std::move(all).error());
  for (const NamedImage& image : *all) {
    if (bh_status st = call.item(json::print(item_of(call.session(), image)))) {
      return tl::unexpected(stop_error(st));
    }
  }
  return call.set_result(json::print(json::object{{"count", all->size()}}));
}

Result<void> inspect(Call& call, const Arguments& args) {
  ImageStore& store = rooms_of(call).images;
  auto found = store.find(call.session(), image_of(args));
  if (!found) return tl::unexpected(std::move(found).error());
  const std::string root = store.root_of(found->digest);
  json::object out = whole_of(call.session(), std::move(*found));
  if (call.session().is_operator) out["root"] = root;
  return call.set_result(json::print(out));
}

Result<void> remove(Call& call, const Arguments& args) {
  auto gone = rooms_of(call).images.remove(call.session(), image_of(args));
  if (!gone) return tl::unexpected(std::move(gone).error());
  return call.set_result(
      json::print(json::object{{"image", image_of(args)}, {"removed", or_null(*gone)}}));
}

constexpr char kItem[] =
    R"("name":{"type":["string","null"]},"digest":{"type":"string"},"kind":{"enum":["oci","docker","tar","folder"]},"size":{"type":"integer","description":"Bytes on the disk."},"entries":{"type":"integer"},"created_ms":{"type":"integer","description":"Unix time."},"os":{"type":["string","null"]},"arch":{"type":["string","null"]},"shared":{"type":"boolean","description":"By the operator, with all personas."},"persona":{"type":["string","null"],"description":"Whose it is; for the operator alone."},"source":{"type":["string","null"],"description":"The path it came from; for the operator alone."})";
constexpr char kMore[] =
    R"(,"config":{"type":"object","description":"What the image says of how it wants to be run: Env, WorkingDir, User, Entrypoint, Cmd."},"ids_kept":{"type":"boolean","description":"Files have the owners that the image gives them; false: all are the user's that Bulkhead runs as."},"left_out":{"type":"object","description":"What an image may not bring along: devices (with FIFOs and sockets), set_ids (setuid and setgid bits), xattrs (file capabilities among them).","properties":{"devices":{"type":"integer"},"set_ids":{"type":"integer"},"xattrs":{"type":"integer"}}})";

OperationSpec named(const char* name, const char* summary) {
  OperationSpec spec;
  spec.name = name;
  spec.summary = summary;
  spec.args_schema =
      R"({"type":"object","required":["image"],"properties":{"image":{"type":"string","minLength":1,"description":"Its name or digest."}}})";
  spec.reasons = {"image_unknown"};
  return spec;
}

}  // namespace

void add_image_operations(const AddOperation& add) {
  const std::string item = kItem;
  OperationSpec spec;
  spec.name = "image.import";
  spec.summary =
      "Unpacks an image into the store, by a confined program: a folder, an OCI layout, what `docker "
      "save` writes, or a tar of a root file system.";
  spec.args_schema =
      R"({"type":"object","properties":{"path":{"type":"string","description":"Of the host, absolute; the operator's session alone. Without it: the input."},)"
      R"("name":{"type":"string","maxLength":255,"description":"Default: what the image calls itself, else its file's name."},)"
      R"("reference":{"type":"string","maxLength":1024,"description":"Which of several images in it, by its name or tag there."},)"
      R"("platform":{"type":"string","maxLength":64,"description":"os/architecture as OCI has them; default: this machine's."},)"
      R"("replace":{"type":"boolean","description":"Also where another image has that name."}}})";
  spec.result_schema =
      R"({"type":"object","properties":{)" + item + kMore +
      R"(,"fresh":{"type":"boolean","description":"It was not in the store before."},"walls":{"type":"object","description":"What held around the program that unpacked it.","properties":{"landlock":{"type":"integer","description":"Its version; 0: the kernel has none."},"chroot":{"type":"boolean"},"seccomp":{"type":"boolean"}}}}})";
  spec.input = "an archive's bytes, where there is no path";
  spec.output = "progress {entries, bytes, message}";
  spec.reasons = {"image_ambiguous", "image_broken", "image_denied", "image_exists",
                  "image_format",    "image_name",   "image_owner",  "image_platform",
                  "image_too_large", "image_unpack", "image_unsafe", "no_space",
                  "quota",           "source",       "unpack_confinement"};
  spec.run = import;
  add(std::move(spec));

  spec = {};
  spec.name = "image.list";
  spec.summary = "Lists the persona's images and those that the operator shares; the operator's session lists all.";
  spec.args_schema = R"({"type":"object","properties":{}})";
  spec.result_schema = R"({"type":"object","properties":{"count":{"type":"integer"}}})";
  spec.output = "items {name, digest, kind, size, entries, created_ms, os, arch, shared}";
  spec.repeatable = true;
  spec.run = list;
  add(std::move(spec));

  spec = named("image.inspect", "Tells all that is known of an image.");
  spec.result_schema = R"({"type":"object","properties":{)" + item + kMore +
                       R"(,"root":{"type":"string","description":"Where it lies; for the operator alone."}}})";
  spec.repeatable = true;
  spec.run = inspect;
  add(std::move(spec));

  spec = named("image.remove", "Takes an image's name away, and the image with its last one.");
  spec.result_schema =
      R"({"type":"object","properties":{"image":{"type":"string"},"removed":{"type":["string","null"],"description":"The digest; null: it has other names."}}})";
  spec.reasons = {"image_denied", "image_in_use", "image_unknown"};
  spec.run = remove;
  add(std::move(spec));
}

}  // namespace bh
