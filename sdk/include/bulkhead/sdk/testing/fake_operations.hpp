// bulkhead/sdk/testing/fake_operations.hpp - scripted operations for the unit tests of tools:
//
//   FakeOperations operations;
//   operations.on("sandbox.exec", [](FakeRun& run) -> Status { ...; return run.result("{}"); });
//   FakeCall call(host.raw());
//   operations.serve(call);
#ifndef BULKHEAD_SDK_TESTING_FAKE_OPERATIONS_HPP
#define BULKHEAD_SDK_TESTING_FAKE_OPERATIONS_HPP

#include <bulkhead/toolset.h>

#include "fake_host.hpp"

namespace bulkhead::sdk::testing {

// One run of a scripted operation.
class FakeRun {
 public:
  FakeRun(FakeCall& outer, std::string name, std::string arguments, const bh_run_io* io)
      : operation(std::move(name)), args(std::move(arguments)), outer_(outer), io_(io) {}

  const std::string operation, args;
  std::string input;  // the blob "input"
  uint32_t flags() const { return io_->flags; }
  uint64_t tag() const { return io_->tag; }
  int64_t timeout_ns() const { return io_->timeout_ns; }

  Status result(std::string_view json) {
    if (io_->result == nullptr) return {};
    return Status::from(io_->result(io_->ctx, json.data(), json.size()));
  }
  Status item(std::string_view json) {
    if ((io_->flags & BH_RUN_OUTPUT) != 0) {
      const bh_call* c = outer_.raw();
      const bh_status st = c->api->item(outer_.raw(), json.data(), json.size());
      if (st != BH_OK) return Status::from(st);
    }
    if (io_->item == nullptr) return {};
    return Status::from(io_->item(io_->ctx, json.data(), json.size()));
  }
  Status emit(int32_t stream, std::string_view data) {
    if ((io_->flags & BH_RUN_OUTPUT) != 0) {
      const bh_call* c = outer_.raw();
      const bh_status st = c->api->emit(outer_.raw(), stream, data.data(), data.size());
      if (st != BH_OK) return Status::from(st);
    }
    if (io_->emit == nullptr) return {};
    return Status::from(io_->emit(io_->ctx, stream, data.data(), data.size()));
  }

 private:
  FakeCall& outer_;
  const bh_run_io* io_;
};

// The service BH_OPERATIONS of the calls that it serves, which it outlives. Runs one at a time.
class FakeOperations {
 public:
  using Script = std::function<Status(FakeRun&)>;
  struct Seen {
    std::string operation, args, input;
    uint32_t flags;
    int64_t timeout_ns;
  };

  FakeOperations() = default;
  FakeOperations(const FakeOperations&) = delete;
  FakeOperations& operator=(const FakeOperations&) = delete;

  FakeOperations& on(std::string name, Script script) {
    return scripts_[std::move(name)] = std::move(script), *this;
  }
  const std::vector<Seen>& seen() const { return seen_; }
  const std::vector<uint64_t>& cancelled() const { return cancelled_; }
  void serve(FakeCall& call) {
    static const bh_operations table = {sizeof(bh_operations), BH_ABI_MINOR, &run, &cancel};
    call.service(BH_OPERATIONS, &table);
    call.context = this;
  }

 private:
  static FakeOperations& of(bh_call* call) {
    return *static_cast<FakeOperations*>(FakeCall::of(call).context);
  }
  static bh_status run(bh_call* call, const char* name, size_t name_size, const char* args,
                       size_t args_size, const bh_blob* const* blobs, size_t blob_count,
                       const bh_run_io* io) {
    FakeOperations& me = of(call);
    FakeRun one(FakeCall::of(call), std::string(view(name, name_size)),
                std::string(view(args, args_size)), io);
    for (size_t i = 0; i < blob_count; ++i) {
      if (view(blobs[i]->name) != "input") continue;
      one.input = view(static_cast<const char*>(blobs[i]->data), blobs[i]->size);
    }
    me.seen_.push_back({one.operation, one.args, one.input, io->flags, io->timeout_ns});
    const auto it = me.scripts_.find(one.operation);
    Status st = it != me.scripts_.end()
                    ? it->second(one)
                    : Status(failure(BH_NOT_FOUND, "no operation is called " + one.operation,
                                     "unknown_operation"));
    if (st.ok()) return BH_OK;
    const Failure& f = st.failure();
    if (io->fault != nullptr) {
      io->fault(io->ctx, f.code(), f.message().data(), f.message().size(), f.details().data(),
                f.details().size());
    }
    return f.code();
  }
  static void cancel(bh_call* call, uint64_t tag) { of(call).cancelled_.push_back(tag); }

  std::map<std::string, Script, std::less<>> scripts_;
  std::vector<Seen> seen_;
  std::vector<uint64_t> cancelled_;
};

}  // namespace bulkhead::sdk::testing

#endif  // BULKHEAD_SDK_TESTING_FAKE_OPERATIONS_HPP
