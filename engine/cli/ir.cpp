// weft ir and weft run-ir: kernel IR as text through passes, and run.
#include "engine/cli/arguments.h"
#include "engine/cli/command.h"
#include "engine/cli/table.h"

#include <weft/error.h>
#include <weft/ir_tools.h>

#include <nlohmann/json.hpp>

#include <cerrno>
#include <charconv>
#include <fstream>
#include <iostream>
#include <iterator>
#include <system_error>

namespace weft::cli {
namespace {

using nlohmann::ordered_json;

constexpr std::int64_t max_printed = 16;
/// What follows this line in a golden file is expected of the kernel before it.
constexpr std::string_view golden_separator = "\n;---\n";

std::string before_separator(std::string text) {
  text.erase(std::min(text.find(golden_separator), text.size()));
  return text;
}

std::string read_text(const std::string& path) {
  if (path == "-") return before_separator({std::istreambuf_iterator<char>(std::cin), {}});
  std::ifstream file(path);
  WEFT_CHECK(file.good(), ArgumentError, "cannot read '", path,
             "': ", std::generic_category().message(errno));
  std::string text;
  try {
    text.assign(std::istreambuf_iterator<char>(file), {});
  } catch (const std::ios_base::failure&) {  // a folder, or what is no file of text
    throw DeviceError(detail::concat("cannot read '", path, "'"));
  }
  return before_separator(std::move(text));
}

std::vector<std::int64_t> read_extents(const std::string& text) {
  std::vector<std::int64_t> extents;
  for (const std::string& word : split_commas(text)) {
    std::int64_t extent = 0;
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), extent);
    WEFT_CHECK(status == std::errc() && end == word.data() + word.size(), ArgumentError,
               "expected extents as in 3,17, got '", text, "'");
    extents.push_back(extent);
  }
  return extents;
}

std::string checksum(const Tensor& tensor) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  const std::size_t size =
      static_cast<std::size_t>(tensor.numel()) * itemsize_bytes(tensor.dtype());
  for (std::size_t i = 0; i < size; ++i)
    hash = (hash ^ static_cast<std::uint64_t>(tensor.data()[i])) * 0x100000001b3;
  return hex16(hash);
}

std::string first_elements(const Tensor& tensor) {
  const Tensor flat = tensor.view({-1});
  std::string result;
  for (std::int64_t i = 0; i < std::min(flat.numel(), max_printed); ++i)
    result += (i > 0 ? ", " : "") + flat.select(0, i).item().text();
  return result + (flat.numel() > max_printed ? ", ..." : "");
}

void print_json(const IrRun& run, std::uint64_t seed) {
  ordered_json json{{"backend", run.backend},
                    {"extents", run.extents},
                    {"seed", seed},
                    {"outputs", ordered_json::array()}};
  for (const Tensor& output : run.outputs)
    json["outputs"].push_back({{"dtype", name(output.dtype())},
                               {"checksum", checksum(output)},
                               {"first", first_elements(output)}});
  std::cout << json.dump(2) << '\n';
}

}  // namespace

void run_ir_command(const IrArguments& arguments) {
  const std::string text = run_ir_passes(read_text(arguments.file), split_commas(arguments.passes),
                                         arguments.print_after);
  if (arguments.json)
    std::cout << ordered_json{{"passes", split_commas(arguments.passes)}, {"ir", text}}.dump(2)
              << '\n';
  else
    std::cout << text;
}

void run_run_ir(const RunIrArguments& arguments) {
  check_backend(arguments.backend);
  IrRunOptions options;
  options.backend = arguments.backend;
  options.extents = read_extents(arguments.extents);
  options.seed = arguments.seed;
  const IrRun run = run_ir(read_text(arguments.file), options);
  WEFT_CHECK(!arguments.json || run.difference.empty(), InternalError, run.backend,
             " differs from the interpreter: ", run.difference);
  if (arguments.json) return print_json(run, options.seed);
  std::cout << "backend " << run.backend << ", extents " << text(run.extents) << ", seed "
            << options.seed << '\n';
  for (std::size_t i = 0; i < run.outputs.size(); ++i)
    std::cout << '$' << i << ' ' << name(run.outputs[i].dtype()) << ' ' << checksum(run.outputs[i])
              << "  " << first_elements(run.outputs[i]) << '\n';
  WEFT_CHECK(run.difference.empty(), InternalError, run.backend,
             " differs from the interpreter: ", run.difference);
}

}  // namespace weft::cli
