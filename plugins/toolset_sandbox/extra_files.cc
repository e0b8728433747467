#include "extra_files.h"

#include <utility>

#include "encoding.h"
#include "file_tree.h"
#include "lifecycle.h"

namespace toolset_sandbox {

namespace {

sdk::Result<sdk::ToolResult> path_and_size(const Request& request,
                                           const sdk::Result<std::string>& done) {
  if (!done) return done.failure();
  auto told = json::parse_object(*done);
  if (!told) return std::move(told).failure();
  return answer(
      json::object{{"path", request.text("path")}, {"size", json::integer(*told, "size")}});
}

}  // namespace

sdk::Result<sdk::ToolResult> file_list(Request& request) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  json::object told;
  auto found = entries_of(request.call, "sandbox.list_files",
                          {{"sandbox", *id},
                           {"path", request.text("path")},
                           {"depth", json::integer(request.args, "depth", 1)}},
                          told);
  if (!found) return std::move(found).failure();
  return answer_list(*found);
}

sdk::Result<sdk::ToolResult> file_upload(Request& request) {
  auto mode = mode_bits(json::integer(request.args, "mode", 644), "/mode");
  if (!mode) return std::move(mode).failure();
  if (request.blobs.size() > 1) {
    return wrong("a call uploads one file, and has " + std::to_string(request.blobs.size()) +
                     " attachments",
                 "");
  }
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  json::object args{{"sandbox", *id}, {"path", request.text("path")}};
  if (*mode) args["mode"] = **mode;
  sdk::Operation write("sandbox.write_file");
  write.args(json::print(args));
  if (request.blobs.empty()) {
    write.pass_input();
  } else {
    write.blob(request.blobs[0]);
  }
  return path_and_size(request, write.run(request.call));
}

sdk::Result<sdk::ToolResult> file_download(Request& request) {
  auto id = known_sandbox(request);
  if (!id) return std::move(id).failure();
  const json::object args{{"sandbox", *id}, {"path", request.text("path")}};
  sdk::Operation read("sandbox.read_file");
  read.args(json::print(args)).pass_output();
  return path_and_size(request, read.run(request.call));
}

}  // namespace toolset_sandbox
