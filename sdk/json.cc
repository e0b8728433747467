// The one unit that holds Boost.JSON's code; whoever uses it links bulkhead::sdk_json.
#include <boost/json/src.hpp>
