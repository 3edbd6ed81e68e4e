// .npz archives: what is written reads back, and no archive does harm.  NumPy's own are exchanged
// by tests/embed/npz_test.py.
#include "tests/matchers.h"
#include "tests/temporary_folder.h"

#include <weft/error.h>
#include <weft/npy.h>

#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAre;
using matchers::HasSubstr;
namespace fs = std::filesystem;

std::string bytes_of(const Tensor& tensor) {
  return {reinterpret_cast<const char*>(tensor.data()),
          static_cast<std::size_t>(tensor.numel()) * itemsize_bytes(tensor.dtype())};
}

/// A folder of its own for each test.
class Npz : public testing::Test {
 protected:
  std::string path() const { return (folder_ / "x.npz").string(); }
  std::string get() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(path(), std::ios::binary) << bytes; }
  /// The archive of `tensors` as bytes.
  std::string archive(const std::vector<NamedTensor>& tensors,
                      NpzCompression compression = NpzCompression::stored) const {
    npz_write(path(), tensors, compression);
    return get();
  }
  /// What reading these bytes throws, or "read".
  template <class ErrorType = ArgumentError>
  std::string reading(const std::string& bytes) const {
    put(bytes);
    try {
      npz_read(path());
      return "read";
    } catch (const ErrorType& error) {
      return error.what();
    }
  }

 private:
  const TemporaryFolder temporary_{memory_folder()};
  const fs::path folder_ = temporary_.path();
};

constexpr NpzCompression both_compressions[] = {NpzCompression::stored, NpzCompression::deflated};

TEST_F(Npz, EveryDtypeAndLayoutReadsBack) {
  std::vector<NamedTensor> written;
  for (DType dtype : {DType::boolean, DType::u8, DType::i16, DType::u32, DType::i64, DType::f16,
                      DType::f32, DType::f64, DType::c64, DType::c128}) {
    const std::int64_t sizes[] = {3, 4};
    written.emplace_back(std::string(name(dtype)), full(sizes, Scalar(1), {dtype, {}, {}}));
  }
  written.emplace_back("fortran", arange(12).view({3, 4}).t());
  written.emplace_back("strided", arange(12).view({3, 4}).slice(1, {}, {}, -2));
  written.emplace_back("scalar", arange(1).select(0, 0));
  written.emplace_back("empty", empty({0, 3}));
  written.emplace_back("nowhere", from_blob(nullptr, {0, 3}, DType::f32));
  written.emplace_back("../../no/path", arange(2));
  written.emplace_back("Größe", arange(3));
  for (NpzCompression compression : both_compressions) {
    npz_write(path(), written, compression);
    const std::vector<NamedTensor> read = npz_read(path());
    ASSERT_EQ(read.size(), written.size());
    for (std::size_t i = 0; i < read.size(); ++i) {
      EXPECT_EQ(read[i].first, written[i].first);
      EXPECT_EQ(read[i].second.dtype(), written[i].second.dtype());
      EXPECT_THAT(read[i].second.sizes(), matchers::ElementsAreArray(written[i].second.sizes()));
    }
    EXPECT_EQ(bytes_of(read[0].second), std::string(12, '\1'));
    EXPECT_EQ(layout_text(npz_read(path(), "fortran")), "i64[4,3]{1,4}");
    EXPECT_EQ(npz_read(path(), "strided").select(0, 1).select(0, 1).item(), Scalar(5));
    EXPECT_EQ(bytes_of(npz_read(path(), "Größe")), bytes_of(arange(3)));
  }
}

TEST_F(Npz, DeflatedIsSmallerAndLargeArraysSurvive) {
  const Tensor x = arange(300000);
  std::mt19937_64 random(1);
  const Tensor noise = empty({100000}, DType::i64);
  for (std::int64_t i = 0; i < noise.numel(); ++i)
    noise.data_as<std::int64_t>()[i] = static_cast<std::int64_t>(random());
  const std::size_t stored = archive({{"x", x}, {"noise", noise}}).size();
  EXPECT_GT(stored, 3200000u);
  EXPECT_EQ(bytes_of(npz_read(path(), "noise")), bytes_of(noise));
  const std::size_t deflated = archive({{"x", x}, {"noise", noise}}, both_compressions[1]).size();
  EXPECT_LT(deflated, stored / 2 + 800000);
  EXPECT_EQ(bytes_of(npz_read(path(), "x")), bytes_of(x));
  EXPECT_EQ(bytes_of(npz_read(path(), "noise")), bytes_of(noise));
}

TEST_F(Npz, AnEmptyArchiveIsOne) {
  EXPECT_EQ(reading(archive({})), "read");
  EXPECT_TRUE(npz_read(path()).empty());
}

TEST_F(Npz, NamesWhatIsThere) {
  archive({{"a", arange(2)}, {"b", arange(3)}});
  try {
    npz_read(path(), "c");
    ADD_FAILURE() << "nothing was thrown";
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.what(), path() + ": there is no array 'c' in the archive; it has a, b");
  }
}

TEST_F(Npz, RefusesNamesAndTensorsBeforeThereIsAFile) {
  const std::string before = archive({{"a", arange(2)}});
  const auto refuses = [&](const std::vector<NamedTensor>& tensors) {
    EXPECT_THROW(npz_write(path(), tensors), ArgumentError);
    EXPECT_EQ(get(), before);
  };
  refuses({{"", arange(2)}});
  refuses({{std::string("a\0b", 3), arange(2)}});
  refuses({{std::string(65532, 'x'), arange(2)}});
  refuses({{"a", arange(2)}, {"a", arange(3)}});
  refuses({{"a", Tensor()}});
  for (const char* name :
       {"\xff", "a\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82", "\x80"})
    refuses({{name, arange(2)}});
  EXPECT_THROW(npz_write(path(), std::vector<NamedTensor>{{"a", empty({2}, DType::bf16)}}),
               UnsupportedError);
  EXPECT_THROW(npz_write("/nowhere/x.npz", {}), DeviceError);
  npz_write(path(), std::vector<NamedTensor>{{std::string(65531, 'x'), arange(2)}});
  EXPECT_EQ(npz_read(path()).at(0).first.size(), 65531u);
}

TEST_F(Npz, RefusesWhatIsNoArchive) {
  for (const std::string& bytes : {std::string(), std::string("x"), std::string(100000, '\0')})
    EXPECT_THAT(reading(bytes), HasSubstr("not an .npz archive"));
  EXPECT_THROW(npz_read("/nowhere/x.npz"), ArgumentError);
}

TEST_F(Npz, EveryBeginningIsRefused) {
  for (NpzCompression compression : both_compressions) {
    const std::string whole = archive({{"a", arange(5)}, {"b", arange(3)}}, compression);
    for (std::size_t size = 0; size < whole.size(); ++size)
      EXPECT_THAT(reading(whole.substr(0, size)), HasSubstr(path())) << size;
  }
}

/// Damage is found by a check of structure or by the checksum; times and attributes mean nothing.
TEST_F(Npz, EveryDamagedByteIsFoundOrMeansNothing) {
  for (NpzCompression compression : both_compressions) {
    const std::string whole = archive({{"a", arange(5)}, {"b", arange(3)}}, compression);
    const std::vector<NamedTensor> expected = npz_read(path());
    int num_refused = 0;
    for (std::size_t at = 0; at < whole.size(); ++at) {
      for (int bit : {0, 7}) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
        put(damaged);
        try {
          const std::vector<NamedTensor> read = npz_read(path());
          ASSERT_LE(read.size(), expected.size());
          for (const auto& [name, tensor] : read) {
            const bool is_first = tensor.numel() == 5;
            EXPECT_EQ(bytes_of(tensor), bytes_of(expected[is_first ? 0 : 1].second)) << at;
          }
        } catch (const ArgumentError&) {
          ++num_refused;
        } catch (const UnsupportedError&) {
          ++num_refused;
        }
      }
    }
    EXPECT_GT(num_refused, static_cast<int>(whole.size()));
  }
}

/// Where in the archive a member's directory record begins.
std::size_t directory_of(const std::string& archive) { return archive.find("PK\1\2"); }

template <class T>
std::string with_number(std::string archive, std::size_t at, T value) {
  std::memcpy(archive.data() + at, &value, sizeof value);
  return archive;
}

TEST_F(Npz, RefusesLiesOfTheDirectory) {
  const std::string whole = archive({{"a", arange(5)}}, NpzCompression::deflated);
  const std::size_t directory = directory_of(whole);
  const std::size_t sizes = directory + 46 + 5 + 4;  // behind the name and the extra field's start
  const std::size_t end64 = whole.find("PK\6\6");
  constexpr std::uint64_t huge = std::uint64_t{1} << 62;
  EXPECT_THAT(reading(with_number(whole, sizes, huge)), HasSubstr("which can't be"));
  EXPECT_THAT(reading(with_number(whole, sizes + 8, huge)), HasSubstr("lie over each other"));
  EXPECT_THAT(reading(with_number(whole, sizes + 16, huge)), HasSubstr("lies outside"));
  EXPECT_THAT(reading(with_number(whole, sizes + 16, ~std::uint64_t{0})), HasSubstr("outside"));
  EXPECT_THAT(reading(with_number(whole, sizes, std::uint64_t{167})), HasSubstr("bytes"));
  EXPECT_THAT(reading(with_number(whole, sizes, std::uint64_t{169})), HasSubstr("bytes"));
  EXPECT_THAT(reading(with_number(whole, end64 + 32, huge)), HasSubstr("ends within"));
  EXPECT_THAT(reading(with_number(whole, end64 + 40, huge)), HasSubstr("lies outside"));
  EXPECT_THAT(reading(with_number(whole, end64 + 48, huge)), HasSubstr("lies outside"));
  EXPECT_THAT(reading(with_number(whole, directory + 16, std::uint32_t{1})),
              HasSubstr("'a': the data is damaged: its checksum is wrong"));
}

TEST_F(Npz, RefusesEncryptionAndOtherCompression) {
  const std::string whole = archive({{"a", arange(5)}});
  const std::size_t directory = directory_of(whole);
  EXPECT_THAT(reading<UnsupportedError>(with_number(whole, directory + 8, std::uint16_t{1})),
              HasSubstr("'a': encrypted"));
  EXPECT_THAT(
      reading<UnsupportedError>(with_number(whole, directory + 10, std::uint16_t{12})),
      HasSubstr("'a': expected stored (0) or deflated (8) data, got compression method 12"));
}

TEST_F(Npz, RefusesTwoArraysOfOneNameAndLeavesOutWhatIsNone) {
  std::string whole = archive({{"a", arange(5)}, {"b", arange(3)}});
  const std::size_t second = whole.rfind("b.npy");
  std::string twice = whole;
  twice[second] = 'a';
  EXPECT_THAT(reading(twice), HasSubstr("two arrays 'a'"));
  whole.replace(second, 5, "b.txt");
  put(whole);
  const std::vector<NamedTensor> read = npz_read(path());
  ASSERT_EQ(read.size(), 1u);
  EXPECT_EQ(read[0].first, "a");
}

}  // namespace
}  // namespace weft
