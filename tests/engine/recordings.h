// Recordings of PyTorch, one JSON object a line: the committed samples, and the full files where
// the source tree has them beside it.
#pragma once

#include <weft/tensor.h>

#include <nlohmann/json.hpp>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

namespace weft::testing {

/// The files called `name` that exist, the committed sample first.
inline std::vector<std::filesystem::path> recording_files(const std::string& name) {
  const std::filesystem::path source = WEFT_SOURCE_DIR;
  std::vector<std::filesystem::path> files = {source / "tests/conformance/data" / name};
  const std::filesystem::path full = source / "../shared/conformance" / name;
  if (std::filesystem::exists(full)) files.push_back(full);
  return files;
}

/// In a file of its own: the parser takes seconds to compile.
nlohmann::json parse_json(const std::string& text);

/// Calls `check` with every line, and returns how many there were.
template <class Check>
int for_each_recording(const std::string& name, const Check& check) {
  int count = 0;
  for (const std::filesystem::path& file : recording_files(name)) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line); ++count) check(parse_json(line), line);
  }
  return count;
}

using Ints = std::vector<std::int64_t>;

inline Ints ints(IntSpan span) { return {span.begin(), span.end()}; }

inline DType recorded_dtype(const nlohmann::json& text) {
  const std::optional<DType> dtype = parse_dtype(text.get<std::string>());
  if (!dtype) throw std::runtime_error("unknown dtype " + text.dump());
  return *dtype;
}

/// The layout of {dt, sz, st, off}, without bytes.
inline Tensor recorded_layout(const nlohmann::json& json) {
  return unbacked(json["sz"].get<Ints>(), json["st"].get<Ints>(), recorded_dtype(json["dt"]),
                  json.value("off", std::int64_t{0}));
}

/// Which of the recorded kinds of error a message belongs to; empty if none.
inline std::string error_kind(const std::string& message) {
  const auto has = [&](std::string_view part) { return message.find(part) != std::string::npos; };
  if (has("must match the size of tensor b")) return "broadcast";
  if (has("doesn't match the broadcast shape")) return "out_shape";
  if (has("can't be cast to the desired output type")) return "cast";
  if (has("more than one element of the written-to tensor")) return "internal_overlap";
  if (has("some elements of the input tensor and the written-to tensor")) return "partial_overlap";
  return "";
}

}  // namespace weft::testing
