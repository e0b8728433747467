// bulkhead/sdk/tool.hpp - tools that are known when the plugin is built: their definitions, their
// results, and a toolset that is a table of them.
#ifndef BULKHEAD_SDK_TOOL_HPP
#define BULKHEAD_SDK_TOOL_HPP

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "toolset.hpp"

namespace bulkhead::sdk {

// A tool's definition (abi/schemas/tool.json). Schemas are JSON text, published verbatim.
class Tool {
 public:
  explicit Tool(std::string name) : name_(std::move(name)) { json_.text("name", name_); }
  Tool& title(std::string_view s) { return json_.text("title", s), *this; }
  Tool& description(std::string_view s) { return json_.text("description", s), *this; }
  Tool& input_schema(std::string_view json) { return json_.raw("input_schema", json), *this; }
  // More lenient; enforced in place of input_schema.
  Tool& accepts_schema(std::string_view json) { return json_.raw("accepts_schema", json), *this; }
  Tool& output_schema(std::string_view json) { return json_.raw("output_schema", json), *this; }
  Tool& read_only(bool b) { return annotations_.boolean("read_only", b), *this; }
  Tool& destructive(bool b) { return annotations_.boolean("destructive", b), *this; }
  Tool& idempotent(bool b) { return annotations_.boolean("idempotent", b), *this; }
  Tool& open_world(bool b) { return annotations_.boolean("open_world", b), *this; }
  // An operation that it runs; all others are refused. "sandbox.exec/1"
  Tool& needs(std::string_view operation) {
    needs_ += needs_.empty() ? "" : ",";
    needs_ += json_quote(operation);
    return *this;
  }

  const std::string& name() const { return name_; }
  std::string json() const {
    JsonObject out = json_;
    out.raw("annotations", annotations_.str());
    if (!needs_.empty()) out.raw("needs", "[" + needs_ + "]");
    return out.str();
  }

 private:
  std::string name_;
  JsonObject json_;
  JsonObject annotations_;
  std::string needs_;
};

// What a tool answers (abi/schemas/tool_result.json).
class ToolResult {
 public:
  ToolResult() = default;
  explicit ToolResult(std::string_view s) { text(s); }

  ToolResult& text(std::string_view s) {
    return add(JsonObject().text("type", "text").text("text", s));
  }
  // Bytes that were sent with Call::attach() under that name.
  ToolResult& attachment(std::string_view name) {
    return add(JsonObject().text("type", "attachment").text("attachment", name));
  }
  ToolResult& link(std::string_view uri, std::string_view name, std::string_view media_type) {
    return add(JsonObject()
                   .text("type", "link")
                   .text("uri", uri)
                   .text("name", name)
                   .text("media_type", media_type));
  }
  // Satisfies the tool's output_schema.
  ToolResult& structured(std::string json) { return structured_ = std::move(json), *this; }
  ToolResult& meta(std::string json) { return meta_ = std::move(json), *this; }
  // The tool ran and what it tried did not work: the model is told.
  ToolResult& error(bool b = true) { return error_ = b, *this; }

  std::string json() const {
    JsonObject out;
    out.raw("content", "[" + content_ + "]");
    if (!structured_.empty()) out.raw("structured", structured_);
    if (error_) out.boolean("is_error", true);
    if (!meta_.empty()) out.raw("meta", meta_);
    return out.str();
  }

 private:
  ToolResult& add(const JsonObject& one) {
    content_ += content_.empty() ? "" : ",";
    content_ += one.str();
    return *this;
  }
  std::string content_;
  std::string structured_;
  std::string meta_;
  bool error_ = false;
};

// A toolset that is a table: derive, and add() each tool in the constructor.
class Tools : public Toolset {
 public:
  // `args` satisfies the tool's schema. May be called from several threads at once.
  using Handler = std::function<Result<ToolResult>(Call& call, std::string_view args, Blobs)>;

  Status list(Call& call) override {
    for (const Row& row : rows_) {
      if (auto st = call.item(row.tool.json()); !st) return st;
    }
    return {};
  }
  Status call(Call& call, std::string_view tool, std::string_view args, Blobs blobs) override {
    for (const Row& row : rows_) {
      if (row.tool.name() != tool) continue;
      auto answer = row.handler(call, args, blobs);
      if (!answer) return std::move(answer).failure();
      return call.result(answer->json());
    }
    return failure(BH_NOT_FOUND, "no tool is called \"" + to_utf8(tool) + "\"", "unknown_tool",
                   "name");
  }

 protected:
  void add(Tool tool, Handler handler) { rows_.push_back({std::move(tool), std::move(handler)}); }

 private:
  struct Row {
    Tool tool;
    Handler handler;
  };
  std::vector<Row> rows_;
};

}  // namespace bulkhead::sdk

#endif  // BULKHEAD_SDK_TOOL_HPP
