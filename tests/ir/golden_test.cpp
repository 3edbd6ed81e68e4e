// Golden files: tests/golden/**/*.weft holds a kernel, a line `;---` and what the tool named in the
// first line makes of it.
//
//   ; run: PASS [PASS ...]   the passes in turn, or `pipeline` for all of them
//   ; run: verify            the violations, a line each
//   ; run: parse             the kernel printed again, or the parser's complaint
//
// WEFT_BLESS=1 rewrites the expectations.
#include "ir/pass.h"
#include "ir/text.h"
#include "ir/verifier.h"

#include <weft/error.h>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <vector>

namespace weft::ir {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view separator = ";---\n";
const fs::path golden_folder = fs::path(WEFT_SOURCE_DIR) / "tests" / "golden";

std::vector<std::string> golden_files() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(golden_folder))
    if (entry.path().extension() == ".weft")
      files.push_back(fs::relative(entry.path(), golden_folder).string());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// The words after `; run:` in the first line.
std::vector<std::string> directive(const std::string& text) {
  std::istringstream in(text.substr(0, text.find('\n')));
  std::vector<std::string> words;
  for (std::string word; in >> word;) words.push_back(word);
  if (words.size() < 3 || words[0] != ";" || words[1] != "run:")
    throw std::runtime_error("the first line is not '; run: ...'");
  return {words.begin() + 2, words.end()};
}

const Pass& find_pass(const std::string& name) {
  for (const Pass& pass : pipeline())
    if (pass.name == name) return pass;
  throw std::runtime_error("no pass is called " + name);
}

std::string run_passes(Kernel kernel, const std::vector<std::string>& passes) {
  std::string notes;
  for (const std::string& name : passes) {
    if (name == "pipeline") {
      run_pipeline(kernel);
      continue;
    }
    if (!find_pass(name).run(kernel)) notes.append("; ").append(name).append(": unchanged\n");
  }
  verify(kernel);
  return notes + print(kernel);
}

std::string run(const std::string& input) {
  const std::vector<std::string> words = directive(input);
  if (words[0] == "parse") {
    try {
      return print(parse(input));
    } catch (const ArgumentError& error) {
      return std::string(error.what()) + '\n';
    }
  }
  const Kernel kernel = parse(input);
  if (words[0] == "verify") {
    std::string text;
    for (const std::string& violation : violations(kernel)) text += violation + '\n';
    return text.empty() ? "valid\n" : text;
  }
  verify(kernel);
  return run_passes(kernel, words);
}

/// The lines of both texts, marked with - where only the first has them and + where only the
/// second.
std::string diff(const std::string& expected, const std::string& actual) {
  const auto a = lines_of(expected), b = lines_of(actual);
  std::vector<std::vector<int>> common(a.size() + 1, std::vector<int>(b.size() + 1));
  for (std::size_t i = a.size(); i-- > 0;)
    for (std::size_t j = b.size(); j-- > 0;)
      common[i][j] =
          a[i] == b[j] ? common[i + 1][j + 1] + 1 : std::max(common[i + 1][j], common[i][j + 1]);
  std::string out;
  const auto add = [&out](std::string_view mark, const std::string& line) {
    out.append(mark).append(line).push_back('\n');
  };
  std::size_t i = 0, j = 0;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      add("  ", a[i++]);
      ++j;
    } else if (j == b.size() || (i < a.size() && common[i + 1][j] >= common[i][j + 1])) {
      add("- ", a[i++]);
    } else {
      add("+ ", b[j++]);
    }
  }
  return out;
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, Matches) {
  const fs::path path = golden_folder / GetParam();
  const std::string text = read_file(path);
  const std::size_t at = text.find(separator);
  const std::string input = text.substr(0, at);
  const std::string expected = at == std::string::npos ? "" : text.substr(at + separator.size());
  const std::string actual = run(input);
  if (const char* bless = std::getenv("WEFT_BLESS");
      bless != nullptr && std::string_view(bless) == "1") {
    std::ofstream(path, std::ios::binary) << input << separator << actual;
    return;
  }
  EXPECT_EQ(actual, expected) << GetParam() << ":\n"
                              << diff(expected, actual)
                              << "If this is what you want: WEFT_BLESS=1 ctest -R '^ir$'";
}

INSTANTIATE_TEST_SUITE_P(Files, Golden, testing::ValuesIn(golden_files()), [](const auto& file) {
  std::string name = file.param.substr(0, file.param.rfind('.'));
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
});

/// Each rule of the verifier has a file that breaks it; but V5 cannot be broken in text, and V14
/// would take thousands of lines (tests/ir/verifier_test.cpp has them).
TEST(Golden, CoversEveryRule) {
  std::string all;
  for (const std::string& file : golden_files())
    if (file.starts_with("verifier/")) all += read_file(golden_folder / file);
  for (const int rule : {1, 2, 3, 4, 6, 7, 8, 9, 10, 11, 12, 13})
    EXPECT_NE(all.find(weft::detail::concat("V", rule, ": ")), std::string::npos)
        << "rule " << rule;
}

}  // namespace
}  // namespace weft::ir
