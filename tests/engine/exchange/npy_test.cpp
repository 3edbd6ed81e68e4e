// .npy files: what NumPy writes is read, what is written reads back, and no file does harm.
#include <weft/error.h>
#include <weft/npy.h>

#include "engine/tensor/tensor_impl.h"
#include "tests/matchers.h"
#include "tests/message_of.h"
#include "tests/temporary_folder.h"

#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <numeric>
#include <random>
#include <string>
#include <vector>

namespace weft {
namespace {

using matchers::ElementsAre;
using matchers::ElementsAreArray;
using matchers::HasSubstr;
using matchers::IsEmpty;
using matchers::StartsWith;
namespace fs = std::filesystem;

std::string little_endian(std::uint64_t value, int num_bytes) {
  std::string result;
  for (int i = 0; i < num_bytes; ++i) result += static_cast<char>(value >> (8 * i) & 0xff);
  return result;
}

/// A file with this header and data, as the format's description has it.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  return std::string("\x93NUMPY") + static_cast<char>(version) + '\0' +
         little_endian(header.size(), version == 1 ? 2 : 4) + header + data;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       bool is_fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (is_fortran ? "True" : "False") +
         ", 'shape': " + shape + ", }";
}

template <class T>
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

/// A folder of its own for each test.
class Npy : public testing::Test {
 protected:
  std::string path(const std::string& name = "x.npy") const { return (folder_ / name).string(); }
  std::string put(const std::string& bytes) const {
    std::ofstream(path(), std::ios::binary) << bytes;
    return path();
  }
  std::string get() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_))
      result.push_back(entry.path().filename().string());
    return result;
  }
  template <class ErrorType>
  std::string refusal(const std::string& bytes) const {
    put(bytes);
    try {
      npy_read(path());
    } catch (const ErrorType& error) {
      EXPECT_THAT(error.what(), StartsWith(path() + ": "));
      return error.what();
    }
    return "nothing was thrown";
  }

  const TemporaryFolder temporary_{memory_folder()};
  const fs::path folder_ = temporary_.path();
};

/// The elements of `x` in row-major order, as bytes, lazy bits aside.
std::string elements_of(const Tensor& x) {
  std::string result;
  const std::size_t itemsize = itemsize_bytes(x.dtype());
  std::vector<std::int64_t> index(static_cast<std::size_t>(x.dim()), 0);
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    std::int64_t rest = i, offset = 0;
    for (int dim = x.dim() - 1; dim >= 0; --dim) {
      offset += rest % x.size(dim) * x.stride(dim);
      rest /= x.size(dim);
    }
    result.append(
        reinterpret_cast<const char*>(x.data()) + offset * static_cast<std::int64_t>(itemsize),
        itemsize);
  }
  return result;
}

TEST_F(Npy, ReadsWhatNumPyWrote) {
  // numpy.save of numpy.arange(6, dtype='f4').reshape(2, 3), byte for byte.
  const std::string file = std::string("\x93NUMPY\x01\x00v\x00", 10) +
                           "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }" +
                           std::string(58, ' ') + "\n" + bytes_of<float>({0, 1, 2, 3, 4, 5});
  const Tensor x = npy_read(put(file));
  EXPECT_EQ(x.dtype(), DType::f32);
  EXPECT_THAT(x.sizes(), ElementsAreArray({2, 3}));
  EXPECT_THAT(x.strides(), ElementsAreArray({3, 1}));
  EXPECT_EQ(elements_of(x), bytes_of<float>({0, 1, 2, 3, 4, 5}));
}

TEST_F(Npy, ReadsFortranOrderAsStrides) {
  const std::string data = bytes_of<std::int16_t>({0, 3, 1, 4, 2, 5});
  const Tensor x = npy_read(put(npy(dictionary("<i2", "(2, 3)", true), data)));
  EXPECT_THAT(x.strides(), ElementsAreArray({1, 2}));
  EXPECT_EQ(elements_of(x), bytes_of<std::int16_t>({0, 1, 2, 3, 4, 5}));
}

TEST_F(Npy, ReadsEveryDTypeAndVersion) {
  const std::vector<std::pair<std::string, DType>> types = {
      {"|b1", DType::boolean}, {"|u1", DType::u8},   {"<u2", DType::u16}, {"<u4", DType::u32},
      {"<u8", DType::u64},     {"|i1", DType::i8},   {"<i2", DType::i16}, {"<i4", DType::i32},
      {"<i8", DType::i64},     {"<f2", DType::f16},  {"<f4", DType::f32}, {"<f8", DType::f64},
      {"<c8", DType::c64},     {"<c16", DType::c128}};
  for (const auto& [descr, dtype] : types) {
    const std::string data(3 * itemsize_bytes(dtype), '\1');
    for (int version : {1, 2, 3}) {
      put(npy(dictionary(descr, "(3,)") + "\n", data, version));
      for (const Tensor& x : {npy_read(path()), npy_map(path())}) {
        EXPECT_EQ(x.dtype(), dtype) << descr;
        EXPECT_EQ(elements_of(x), data) << descr;
      }
    }
  }
}

TEST_F(Npy, ReadsOtherSpellingsOfTheHeader) {
  const std::string data = bytes_of<std::int32_t>({7, 8});
  for (const char* header :
       {"{'descr':'<i4','fortran_order':False,'shape':(2,)}",
        "{\"shape\": (2L,), \"fortran_order\": False, \"descr\": \"<i4\"}   \n",
        "  { 'descr' : '=i4' ,\n 'fortran_order' : False , 'shape' : ( 2 , ) , } ",
        "{'descr': 'i4', 'fortran_order': False, 'shape': (2,), }"})
    EXPECT_EQ(elements_of(npy_read(put(npy(header, data)))), data) << header;
  EXPECT_THAT(npy_read(put(npy(dictionary("<i4", "()"), data))).sizes(), IsEmpty());
  EXPECT_EQ(npy_read(put(npy(dictionary("<i4", "(0, 5)"), ""))).numel(), 0);
}

TEST_F(Npy, BytesThatAreNoBoolAreTrue) {
  const std::string data("\0\1\2\xff", 4);
  put(npy(dictionary("|b1", "(4,)"), data));
  EXPECT_EQ(elements_of(npy_read(path())), std::string("\0\1\1\1", 4));
  EXPECT_EQ(elements_of(npy_map(path())), std::string("\0\1\1\1", 4));
  EXPECT_THAT(get(), matchers::EndsWith(data));
}

TEST_F(Npy, MappedTensorsOutliveTheirFileAndNeverChangeIt) {
  const std::string file =
      npy(dictionary("<i4", "(2, 2)") + "   ", bytes_of<std::int32_t>({1, 2, 3, 4}));
  Tensor row;
  {
    const Tensor x = npy_map(put(file));
    x.data_as<std::int32_t>()[3] = 40;
    row = x.select(0, 1);
  }
  EXPECT_EQ(get(), file);
  fs::remove(path());
  EXPECT_EQ(elements_of(row), bytes_of<std::int32_t>({3, 40}));
  EXPECT_THROW(row.resize_({100}), ArgumentError);
}

TEST_F(Npy, MisalignedDataIsReadInstead) {
  const std::string data = bytes_of<double>({1.5, -2});
  for (int padding = 0; padding < 8; ++padding) {
    const Tensor x = npy_map(put(npy(dictionary("<f8", "(2,)") + std::string(padding, ' '), data)));
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % 8, 0u);
    EXPECT_EQ(elements_of(x), data);
  }
}

TEST_F(Npy, WritesTheHeaderThatNumPyWrites) {
  const auto header_of = [&](const Tensor& x) {
    npy_write(path(), x);
    const std::string file = get();
    EXPECT_THAT(file, StartsWith(std::string("\x93NUMPY\x01\x00", 8)));
    const std::size_t size =
        10 + static_cast<unsigned char>(file[8]) + 256u * static_cast<unsigned char>(file[9]);
    EXPECT_EQ(size % 64, 0u);
    EXPECT_EQ(file[size - 1], '\n');
    EXPECT_EQ(file.size() - size, static_cast<std::size_t>(x.numel()) * itemsize_bytes(x.dtype()));
    return file.substr(10, file.find_last_not_of(' ', size - 2) - 9);
  };
  EXPECT_EQ(header_of(empty({2, 3})),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(header_of(empty({2, 3}).t()),
            "{'descr': '<f4', 'fortran_order': True, 'shape': (3, 2), }");
  EXPECT_EQ(header_of(empty({3}, DType::boolean)),
            "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }");
  EXPECT_EQ(header_of(empty({}, DType::c128)),
            "{'descr': '<c16', 'fortran_order': False, 'shape': (), }");
  EXPECT_EQ(header_of(empty({0, 2}, DType::u8)),
            "{'descr': '|u1', 'fortran_order': False, 'shape': (0, 2), }");
  header_of(weft::empty(std::vector<std::int64_t>(64, 1)));
}

TEST_F(Npy, WhatIsWrittenReadsBack) {
  std::mt19937_64 random(3);
  for (DType dtype : {DType::boolean, DType::i8, DType::f16, DType::i32, DType::f64, DType::c128}) {
    const Tensor x = empty({3, 4, 5}, dtype);
    for (std::size_t i = 0; i < x.storage()->size_bytes(); ++i)
      x.data()[i] = static_cast<std::byte>(dtype == DType::boolean ? random() & 1 : random());
    for (const Tensor& view :
         {x, x.permute({2, 1, 0}), x.permute({1, 0, 2}), x.slice(1, {}, {}, -2), x.flip({0, 2}),
          x.select(2, 3), x.unsqueeze(1).expand({3, 2, 4, 5}), x.narrow(0, 1, 0),
          x.diagonal(1, 0, 1)}) {
      npy_write(path(), view);
      for (const Tensor& back : {npy_read(path()), npy_map(path())}) {
        EXPECT_EQ(back.dtype(), dtype);
        EXPECT_TRUE(std::ranges::equal(back.sizes(), view.sizes())) << describe(view);
        EXPECT_EQ(elements_of(back), elements_of(view)) << describe(view);
      }
    }
    npy_write(path(), x.permute({2, 1, 0}));
    EXPECT_THAT(npy_read(path()).strides(), ElementsAreArray({1, 5, 20})) << "Fortran order stays";
  }
}

TEST_F(Npy, EmptyTensorsKeepAnOrderWhoseStridesFit) {
  using Ints = std::vector<std::int64_t>;
  constexpr std::int64_t large = std::int64_t{1} << 40;
  for (const Ints& sizes : {Ints{large, large, 0}, Ints{0, large, large}}) {
    npy_write(path(), empty_strided(sizes, Ints{1, 1, 1}));
    EXPECT_TRUE(std::ranges::equal(npy_read(path()).sizes(), sizes)) << sizes[0];
  }
  put("old");
  const Tensor in_no_order = empty_strided(Ints{large, 0, large, large}, Ints{1, 1, 1, 1});
  EXPECT_THROW(npy_write(path(), in_no_order), ArgumentError);
  EXPECT_EQ(get(), "old");
}

TEST_F(Npy, LargeNonContiguousTensorsPassThroughTheBuffer) {
  const Tensor x = empty({300, 301}, DType::u16);
  std::iota(x.data_as<std::uint16_t>(), x.data_as<std::uint16_t>() + x.numel(), std::uint16_t{0});
  const Tensor view = x.slice(1, {}, {}, 2).flip({0});
  npy_write(path(), view);
  EXPECT_EQ(elements_of(npy_read(path())), elements_of(view));
}

TEST_F(Npy, LazyBitsAreApplied) {
  const Tensor z = empty({2}, DType::c64);
  z.data_as<c64>()[0] = {1, 2};
  z.data_as<c64>()[1] = {3, -4};
  npy_write(path(), z.conj());
  EXPECT_EQ(elements_of(npy_read(path())), bytes_of<c64>({{1, -2}, {3, 4}}));
  npy_write(path(), z.conj().neg_view());
  EXPECT_EQ(elements_of(npy_read(path())), bytes_of<c64>({{-1, 2}, {-3, -4}}));
  npy_write(path(), z.conj().imag());
  EXPECT_EQ(elements_of(npy_read(path())), bytes_of<float>({-2, 4}));
  const Tensor halves = empty({1}, DType::f16);
  halves.data_as<f16>()[0] = {0x3c00};
  npy_write(path(), halves.neg_view());
  EXPECT_EQ(elements_of(npy_read(path())), bytes_of<std::uint16_t>({0xbc00}));
}

TEST_F(Npy, BadFilesAreRefused) {
  const std::string data(24, '\0');
  const std::string good = npy(dictionary("<f4", "(2, 3)"), data);
  npy_read(put(good));
  EXPECT_THAT(refusal<ArgumentError>(""), HasSubstr("too short for the magic string"));
  EXPECT_THAT(refusal<ArgumentError>("PK\3\4 and so on"),
              HasSubstr("does not begin with \\x93NUMPY"));
  EXPECT_THAT(refusal<ArgumentError>(npy("", "", 4)),
              HasSubstr("expected version 1, 2 or 3 of the .npy format, got 4"));
  EXPECT_THAT(refusal<ArgumentError>(good.substr(0, 9)),
              HasSubstr("the file ends within the length of the header"));
  EXPECT_THAT(refusal<ArgumentError>(good.substr(0, 40)), HasSubstr("too short for the header"));
  EXPECT_THAT(refusal<ArgumentError>(good.substr(0, good.size() - 1)),
              HasSubstr("the data is truncated: f32[2,3] needs 24 bytes, the file has 23"));
  const auto header_refusal = [&](const std::string& header) {
    return refusal<ArgumentError>(npy(header, data));
  };
  EXPECT_THAT(header_refusal("[]"), HasSubstr("expected '{'"));
  EXPECT_THAT(header_refusal("{'descr': '<f4', 'fortran_order': False, }"),
              HasSubstr("'shape' is missing"));
  EXPECT_THAT(header_refusal("{'descr': '<f4', 'shape': (2,), }"),
              HasSubstr("'fortran_order' is missing"));
  EXPECT_THAT(header_refusal("{}"), HasSubstr("'descr' is missing"));
  EXPECT_THAT(header_refusal("{'descr': '<f4', 'descr': '<f4'}"), HasSubstr("once each"));
  EXPECT_THAT(header_refusal("{'colour': 1}"), HasSubstr("expected the keys"));
  EXPECT_THAT(header_refusal("{'descr': '<f4"), HasSubstr("expected the end of this string"));
  EXPECT_THAT(header_refusal("{'fortran_order': 0}"), HasSubstr("expected True or False"));
  EXPECT_THAT(header_refusal("{'shape': (2 3)}"), HasSubstr("expected ',' or ')'"));
  EXPECT_THAT(header_refusal("{'shape': (-1,)}"), HasSubstr("never negative"));
  EXPECT_THAT(header_refusal("{'shape': (99999999999999999999,)}"), HasSubstr("fits in 64 bits"));
  EXPECT_THAT(header_refusal(dictionary("<f4", "(2, 3)") + "x"),
              HasSubstr("expected the end of the header"));
  EXPECT_THAT(header_refusal(dictionary("<f4", "(4611686018427387904, 4)")), HasSubstr("overflow"));
  EXPECT_THAT(header_refusal(dictionary("<f4", "(4611686018427387904,)")), HasSubstr("overflow"));
  EXPECT_THAT(header_refusal(dictionary("<f4", "(1099511627776,)")),
              HasSubstr("the data is truncated"));
  std::string many = "(";
  for (int i = 0; i < 65; ++i) many += "1, ";
  EXPECT_THAT(header_refusal(dictionary("<f4", many + ")")), HasSubstr("at most 64 dimensions"));
  EXPECT_THAT(refusal<ArgumentError>(npy(std::string(2 << 20, ' '), "", 2)),
              HasSubstr("a header of at most"));
}

TEST_F(Npy, DTypesThatWeftLacksAreRefusedByName) {
  const std::string data(64, '\0');
  const auto type_refusal = [&](const std::string& descr) {
    return refusal<UnsupportedError>(npy(dictionary(descr, "(2,)"), data));
  };
  EXPECT_THAT(type_refusal(">i4"),
              HasSubstr("big-endian ('>i4'), only little-endian is supported"));
  EXPECT_THAT(type_refusal(">i4"), HasSubstr("x.astype('<i4')"));
  EXPECT_THAT(type_refusal("<V2"),
              HasSubstr("the dtype '<V2' is not supported; expected one of b1, u1"));
  EXPECT_THAT(type_refusal("<U3"), HasSubstr("not supported"));
  EXPECT_THAT(type_refusal("<f16"), HasSubstr("not supported"));
  EXPECT_THAT(type_refusal(""), HasSubstr("not supported"));
  EXPECT_THAT(
      refusal<UnsupportedError>(npy("{'descr': [('a', '<i4')], 'fortran_order': False}", data)),
      HasSubstr("structured dtypes"));
  EXPECT_EQ(npy_read(put(npy(dictionary(">i1", "(2,)"), data))).dtype(), DType::i8);
  for (DType dtype : {DType::bf16, DType::f8e4m3fn, DType::f8e5m2, DType::c32}) {
    try {
      npy_write(path("other.npy"), empty({2}, dtype));
      ADD_FAILURE() << name(dtype) << " was written";
    } catch (const UnsupportedError& error) {
      EXPECT_THAT(error.what(), HasSubstr("has no name in .npy files; convert to one of"));
    }
  }
  EXPECT_THAT(names(), ElementsAre("x.npy"));
}

TEST_F(Npy, PathsThatCannotBeReadAreRefused) {
  for (const std::string& bad : {path("missing.npy"), folder_.string(), std::string(),
                                 std::string("/dev/null"), path() + "/x", std::string("a\0b", 3)}) {
    EXPECT_THROW(npy_read(bad), ArgumentError) << bad;
    EXPECT_THROW(npy_map(bad), ArgumentError) << bad;
  }
  try {
    npy_read(path("missing.npy"));
  } catch (const ArgumentError& error) {
    EXPECT_EQ(error.what(),
              path("missing.npy") + ": the file can't be read: No such file or directory");
  }
}

TEST_F(Npy, ZeroBytesInPathsAreShown) {
  const std::string bad = path(std::string("a\0b", 3)), shown = path("a\\x00b");
  EXPECT_EQ(test::message_of<ArgumentError>([&] { npy_read(bad); }),
            shown + ": a file name can't contain a zero byte");
  EXPECT_EQ(test::message_of<DeviceError>([&] { npy_write(bad, empty({2})); }),
            shown + ": the file can't be written: expected a file name");
}

TEST_F(Npy, AFailedWriteLeavesWhatWasThere) {
  const Tensor x = empty({2});
  for (const std::string& bad : {path("no/such/folder.npy"), folder_.string(), std::string(),
                                 std::string("/dev/full"), path(std::string(300, 'a'))})
    EXPECT_THROW(npy_write(bad, x), DeviceError) << bad;
  put("old");
  EXPECT_THROW(npy_write(path(), unbacked(x.sizes(), x.strides(), DType::f32)), ArgumentError);
  EXPECT_THROW(npy_write(path(), Tensor()), ArgumentError);
  EXPECT_EQ(get(), "old");
  EXPECT_THAT(names(), ElementsAre("x.npy"));
}

TEST_F(Npy, WritesThroughLinksAndToDevices) {
  const Tensor x = zeros(std::vector<std::int64_t>{2});
  put("old");
  fs::create_symlink(path(), path("link.npy"));
  npy_write(path("link.npy"), x);
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_EQ(npy_read(path()).numel(), 2);
  npy_write("/dev/null", x);
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  npy_write(path(std::string(255, 'a')), x);
  EXPECT_EQ(npy_read(path(std::string(255, 'a'))).numel(), 2);
}

TEST_F(Npy, MutatedFilesNeverDoHarm) {
  std::mt19937_64 random(17);
  const std::string seeds[] = {
      npy(dictionary("<f4", "(2, 3)") + "    \n", std::string(24, '\1')),
      npy(dictionary("|b1", "(4,)", true), std::string(4, '\1'), 2),
      npy(dictionary("<c16", "(1, 1, 2)", true) + "\n", std::string(32, '\1'), 3)};
  for (int round = 0; round < 3000; ++round) {
    std::string file = seeds[random() % std::size(seeds)];
    for (std::uint64_t edits = 1 + random() % 5; edits > 0; --edits) {
      const std::size_t at = random() % file.size();
      switch (random() % 5) {
        case 0: file[at] = static_cast<char>(random()); break;
        case 1: file[at] = "0123456789(),'<>|LTF{} "[random() % 23]; break;
        case 2: file.erase(at, 1 + random() % 8); break;
        case 3: file.insert(at, 1 + random() % 3, file[random() % file.size()]); break;
        case 4: file.resize(at + 1); break;
      }
      if (file.empty()) break;
    }
    put(file);
    for (Tensor (*read)(const std::string&) : {npy_read, npy_map}) {
      try {
        const Tensor x = read(path());
        ASSERT_EQ(elements_of(x).size(),
                  static_cast<std::size_t>(x.numel()) * itemsize_bytes(x.dtype()));
      } catch (const ArgumentError&) {
      } catch (const UnsupportedError&) {
      }
    }
  }
}

}  // namespace
}  // namespace weft
