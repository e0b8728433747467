// Where a call's answers go, but for its result and its error, which stay in the call.
#pragma once

#include <bulkhead/base.h>

#include <cstddef>
#include <string>
#include <string_view>

namespace bh {

// Bytes that travel beside JSON. Borrowed.
struct BlobView {
  std::string_view name;
  std::string_view media_type;
  std::string_view data;
};

class Call;

// Each function may wait for a slow reader; other than BH_OK: take no more and stop with that
// code. `from` is the call that answers; its reasons to stop end the waiting. All [any].
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  virtual ~Sink() = default;
  virtual bh_status item(Call& from, std::string_view json) = 0;
  virtual bh_status emit(Call& from, int stream, std::string_view bytes) = 0;
  virtual bh_status attach(Call& from, const BlobView& blob) = 0;
  // Progress; may be dropped, never waits.
  virtual void event(Call& from, std::string_view json) = 0;
};

// Drops everything.
class NullSink : public Sink {
 public:
  bh_status item(Call&, std::string_view) override { return BH_OK; }
  bh_status emit(Call&, int, std::string_view) override { return BH_OK; }
  bh_status attach(Call&, const BlobView&) override { return BH_OK; }
  void event(Call&, std::string_view) override {}
};

// Hands everything to the call above. A base for those that take one kind and pass the rest.
class PassSink : public Sink {
 public:
  explicit PassSink(Call& up) : up_(up) {}
  bh_status item(Call& from, std::string_view json) override;
  bh_status emit(Call& from, int stream, std::string_view bytes) override;
  bh_status attach(Call& from, const BlobView& blob) override;
  void event(Call& from, std::string_view json) override;

 protected:
  Call& up_;
};

}  // namespace bh
