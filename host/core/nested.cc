#include "core/nested.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <mutex>
#include <optional>
#include <string>

#include "base/json.h"
#include "core/drive.h"
#include "core/engine.h"
#include "core/operation.h"

namespace bh {
namespace {

std::string_view view(const char* data, size_t size) {
  return data != nullptr ? std::string_view(data, size) : std::string_view();
}

// Hands an operation's answers to a plugin's functions, one at a time, and to the outer call where
// the plugin asked for that.
class IoSink final : public Sink {
 public:
  IoSink(Call& up, const bh_run_io& io) : up_(up), io_(io) {}

  bh_status item(Call& from, std::string_view json) override {
    bh_status st = BH_OK;
    if (io_.item != nullptr) {
      std::lock_guard lock(one_at_a_time_);
      st = io_.item(io_.ctx, json.data(), json.size());
    }
    return st == BH_OK && passes() ? up_.sink().item(from, json) : stopped(from, st);
  }
  bh_status emit(Call& from, int stream, std::string_view bytes) override {
    bh_status st = BH_OK;
    if (io_.emit != nullptr) {
      std::lock_guard lock(one_at_a_time_);
      st = io_.emit(io_.ctx, stream, bytes.data(), bytes.size());
    }
    return st == BH_OK && passes() ? up_.sink().emit(from, stream, bytes) : stopped(from, st);
  }
  bh_status attach(Call& from, const BlobView& blob) override {
    bh_status st = BH_OK;
    if (io_.attach != nullptr) {
      bh_blob b{};
      b.struct_size = sizeof b;
      b.name = {blob.name.data(), blob.name.size()};
      b.media_type = {blob.media_type.data(), blob.media_type.size()};
      b.data = blob.data.data();
      b.size = blob.data.size();
      std::lock_guard lock(one_at_a_time_);
      st = io_.attach(io_.ctx, &b);
    }
    return st == BH_OK && passes() ? up_.sink().attach(from, blob) : stopped(from, st);
  }
  void event(Call& from, std::string_view json) override {
    if (passes()) up_.sink().event(from, json);
  }

  bh_status result(const std::string& json) {
    if (io_.result == nullptr) return BH_OK;
    std::lock_guard lock(one_at_a_time_);
    return io_.result(io_.ctx, json.data(), json.size());
  }
  void fault(const Error& error) {
    if (io_.fault == nullptr) {
      up_.record(error);
      return;
    }
    std::lock_guard lock(one_at_a_time_);
    io_.fault(io_.ctx, error.code, error.message.data(), error.message.size(),
              error.details.data(), error.details.size());
  }

 private:
  bool passes() const { return (io_.flags & BH_RUN_OUTPUT) != 0; }
  // A plugin that wants no more ends the operation with its own code.
  static bh_status stopped(Call& from, bh_status st) {
    if (st != BH_OK) from.stop(st);
    return st == BH_OK ? from.stop_reason() : st;
  }

  Call& up_;
  const bh_run_io& io_;
  std::mutex one_at_a_time_;
};

struct Asked {
  std::string_view name;
  std::string_view args;
  const bh_blob* const* blobs;
  size_t blob_count;
};

Result<void> permitted(Call& up, const std::string& name) {
  if (up.depth() >= kMaxDepth) {
    return fail(BH_FAILED_PRECONDITION, "operations are nested deeper than 16", "nesting");
  }
  if (up.needs() == nullptr || up.needs()->count(name) == 0) {
    return fail(BH_PERMISSION_DENIED,
                "the tool does not list " + name + "/1 among its needs; add it to the tool",
                "not_needed", {{"operation", name}});
  }
  return {};
}

Result<std::string> run_one(Call& up, const Asked& asked, IoSink& sink, const bh_run_io& io) {
  const Catalogue& catalogue = up.engine().catalogue();
  const Catalogue::Entry* entry = catalogue.find(asked.name);
  if (entry == nullptr) return tl::unexpected(unknown_operation(catalogue, asked.name));
  BH_TRY(permitted(up, entry->spec.name));
  auto values = checked_arguments(*entry, asked.args);
  if (!values) return tl::unexpected(std::move(values).error());

  Arguments args;
  args.values = std::move(*values);
  std::optional<KnownInput> known;
  for (size_t i = 0; i < asked.blob_count; i++) {
    const bh_blob* b = asked.blobs[i];
    if (b == nullptr || !BH_HAS(b, bh_blob, size)) {
      return fail(BH_INVALID_ARGUMENT, "a blob is NULL or of an unknown shape", "plugin_misuse");
    }
    BlobView blob{view(b->name.data, b->name.size), view(b->media_type.data, b->media_type.size),
                  view(static_cast<const char*>(b->data), b->size)};
    if (blob.name == "input") {
      known.emplace(blob.data);
    } else {
      args.blobs.push_back(blob);
    }
  }
  NoInput none;
  Input* input = &none;
  if (known) {
    input = &*known;
  } else if ((io.flags & BH_RUN_INPUT) != 0) {
    input = &up.input();
  }
  CallOptions options;
  options.timeout_ns = io.timeout_ns;
  options.tag = io.tag;
  options.cleanup = (io.flags & BH_RUN_CLEANUP) != 0;
  options.operation = true;
  Call call(up, sink, *input, options);
  BH_TRY(call.check());
  auto done = entry->spec.run(call, args);
  if (!done) {
    Error error = std::move(done).error();
    if (call.has_result()) error = with_partial(std::move(error), call.take_result());
    return tl::unexpected(std::move(error));
  }
  return call.take_result();
}

bh_status run(bh_call* c, const char* operation, size_t operation_len, const char* args,
              size_t args_len, const bh_blob* const* blobs, size_t blob_count,
              const bh_run_io* given) noexcept {
  Call& up = *static_cast<Call*>(c);
  try {
    bh_run_io io{};
    if (given == nullptr || !BH_HAS(given, bh_run_io, ctx)) {
      return up.record(
          fail(BH_INVALID_ARGUMENT, "run() needs an io table", "plugin_misuse").value());
    }
    // The plugin's table may be shorter than ours; what it lacks stays NULL.
    std::memcpy(&io, given, std::min<size_t>(given->struct_size, sizeof io));
    constexpr uint32_t kKnown = BH_RUN_OUTPUT | BH_RUN_INPUT | BH_RUN_CLEANUP;
    if ((io.flags & ~kKnown) != 0) {
      return up.record(fail(BH_UNIMPLEMENTED, "run() was given a flag that this host does not know",
                            "unknown_flag")
                           .value());
    }
    IoSink sink(up, io);
    Asked asked{view(operation, operation_len), view(args, args_len), blobs,
                blobs != nullptr ? blob_count : 0};
    auto result = run_one(up, asked, sink, io);
    if (!result) {
      sink.fault(result.error());
      return result.error().code;
    }
    return sink.result(*result);
  } catch (const std::exception& e) {
    return up.record(fail(BH_INTERNAL, std::string("an operation failed: ") + e.what(), "exception").value());
  }
}

void cancel(bh_call* c, uint64_t tag) { static_cast<Call*>(c)->cancel_tagged(tag); }

const bh_operations kOperations = {sizeof(bh_operations), BH_ABI_MINOR, run, cancel};

}  // namespace

const bh_operations* nested_operations() { return &kOperations; }

}  // namespace bh
