// sandbox_list: a page of them, the newest first.
#include <algorithm>
#include <set>
#include <string>

#include "info.h"
#include "lifecycle.h"

namespace toolset_sandbox {

namespace {

constexpr int64_t kMostOnAPage = 200;

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 32);
  }
  return out;
}

// States are compared here, for clients may ask for some that we never have ("Terminated").
sdk::Result<std::vector<json::object>> matching(Request& request, const json::object& filter) {
  json::object args;
  if (const json::object* metadata = json::child(filter, "metadata")) args["metadata"] = *metadata;
  std::set<std::string> states;
  if (const json::array* listed = json::list(filter, "states")) {
    for (const json::value& one : *listed) states.insert(lower(json::view(one.get_string())));
  }
  std::vector<json::object> out;
  auto listed = sdk::Operation("sandbox.list")
                    .args(json::print(args))
                    .on_item([&](std::string_view item) -> sdk::Status {
                      auto one = json::parse_object(item);
                      if (!one) return std::move(one).failure();
                      const std::string state(json::text(*one, "state"));
                      if (states.empty() || states.count(state) != 0) {
                        out.push_back(*std::move(one));
                      }
                      return {};
                    })
                    .run(request.call);
  if (!listed) return std::move(listed).failure();
  std::stable_sort(out.begin(), out.end(), [](const json::object& a, const json::object& b) {
    return json::integer(a, "created_ms") > json::integer(b, "created_ms");
  });
  return out;
}

}  // namespace

sdk::Result<sdk::ToolResult> sandbox_list(Request& request) {
  const json::object none;
  const json::object* given = json::child(request.args, "filter");
  const json::object& filter = given != nullptr ? *given : none;
  const int64_t page = json::integer(filter, "page", 1);
  const int64_t size = json::integer(filter, "page_size", 20);
  if (page < 1) return wrong("pages are counted from 1", "/filter/page");
  if (size < 1 || size > kMostOnAPage) {
    return wrong("a page has 1 to 200 sandboxes", "/filter/page_size");
  }
  auto all = matching(request, filter);
  if (!all) return std::move(all).failure();
  const auto total = static_cast<int64_t>(all->size());
  const int64_t pages = (total + size - 1) / size;
  json::array infos;
  if (page <= pages) {
    const int64_t end = std::min(total, page * size);
    for (int64_t i = (page - 1) * size; i < end; ++i) {
      infos.push_back(info_of((*all)[static_cast<size_t>(i)]));
    }
  }
  json::object out;
  out["sandbox_infos"] = std::move(infos);
  out["pagination"] = json::object{{"page", page},
                                   {"page_size", size},
                                   {"total_items", total},
                                   {"total_pages", pages},
                                   {"has_next_page", page < pages}};
  return answer(out);
}

}  // namespace toolset_sandbox
