#include "referee.h"

#include <valijson/adapters/boost_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

bool referee_accepts(const boost::json::value& schema, const boost::json::value& instance) {
  valijson::Schema compiled;
  valijson::SchemaParser parser;
  valijson::adapters::BoostJsonAdapter schema_adapter(schema);
  parser.populateSchema(schema_adapter, compiled);
  valijson::Validator validator;
  valijson::adapters::BoostJsonAdapter instance_adapter(instance);
  return validator.validate(compiled, instance_adapter, nullptr);
}
