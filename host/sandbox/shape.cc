#include "sandbox/shape.h"

#include <utility>

#include "sandbox/images.h"
#include "sandbox/report.h"

namespace bh {

Result<Shape> Shape::of(std::shared_ptr<const OpenedBackend> opened, json::object profile,
                        std::string image, std::string root_image) {
  Shape out;
  out.opened = std::move(opened);
  out.profile = std::move(profile);
  out.image = std::move(image);
  out.root_image = std::move(root_image);
  out.required = required_of(out.profile, out.opened->backend->id());
  auto split = out.opened->profile.split(out.profile);
  BH_TRY(out.opened->profile.check(split.kept));
  out.taken_out = std::move(split.unlisted);
  out.for_backend = json::print(split.kept);
  return out;
}

json::object Shape::complete(json::object report) const {
  json::object whole = complete_report(std::move(report), profile, taken_out);
  if (root_image.empty()) report_image(whole, image);
  if (!passed_over.empty()) whole["passed_over"] = passed_over;
  return whole;
}

Result<json::object> Shape::judged(json::object report) const {
  json::object whole = complete(std::move(report));
  BH_TRY(check_required(whole, required, opened->backend->id()));
  return whole;
}

}  // namespace bh
