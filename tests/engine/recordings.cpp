#include "tests/engine/recordings.h"

namespace weft::testing {

nlohmann::json parse_json(const std::string& text) { return nlohmann::json::parse(text); }

}  // namespace weft::testing
