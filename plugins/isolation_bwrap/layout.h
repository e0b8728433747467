// The second half of make_view(): gives every place a mount point and an order.
#pragma once

#include "nodes.h"

namespace bwrap {

class Layout {
 public:
  Layout(const ViewRequest& request, View& view, Nodes& nodes, const std::vector<Placed>& placed)
      : request_(request), view_(view), nodes_(nodes), placed_(placed) {}
  sdk::Status run();

 private:
  enum class Found { kFine, kChanged, kDropped };
  sdk::Result<Found> settle(const std::string& target, const Node& node);
  sdk::Status explode(const std::string& folder);
  const std::string* provider_of(const std::string& target) const;
  bool beneath_source(const std::string& target, std::string& top) const;
  sdk::Status add_inner(const std::string& target, const Node& node, const std::string& top);
  void add_argument(const std::string& target, const Node& node);
  void put(std::initializer_list<std::string> words);

  const ViewRequest& request_;
  View& view_;
  Nodes& nodes_;
  const std::vector<Placed>& placed_;
  std::vector<std::string> seal_;  // made read-only at the end
};

}  // namespace bwrap
