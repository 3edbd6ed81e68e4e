// overlap.jsonl: views of one storage as output and inputs of one operation.
#include "tests/conformance/replay.h"

#include <weft/overlap.h>

#include <array>
#include <cstring>

namespace weft::conformance {
namespace {

/// Storage 0 with 1 ... n and storage 1 with 101 ... 100 + n, and the recorded views of them.
struct Views {
  std::array<Tensor, 2> storages;
  Tensor out;
  std::vector<Tensor> inputs;

  explicit Views(const json& recorded) {
    const DType dtype = dtype_named(recorded.at("dt"));
    const std::int64_t length = recorded.at("n");
    for (int s = 0; s < 2; ++s) {
      storages[s] = empty({length}, dtype);
      for (std::int64_t i = 0; i < length; ++i) write(storages[s], i, 100.0 * s + 1 + i);
    }
    out = view(recorded.at("out"));
    for (const json& input : recorded.at("in"))
      inputs.push_back(input.value("same", 0) == 1 ? out : view(input));
  }

  static void write(const Tensor& storage, std::int64_t index, double value) {
    const Bits bits = Scalar(value).bits(storage.dtype());
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(storage.dtype()));
    std::memcpy(storage.data() + index * itemsize, &bits, static_cast<std::size_t>(itemsize));
  }

  Tensor view(const json& layout) const {
    const Ints sizes = layout.at("sz"), strides = layout.at("st");
    return storages.at(layout.at("s").get<std::size_t>())
        .as_strided(sizes, strides, layout.at("off").get<std::int64_t>());
  }

  std::vector<double> first_storage() const {
    std::vector<double> values;
    const DType dtype = storages[0].dtype();
    const auto itemsize = static_cast<std::int64_t>(itemsize_bytes(dtype));
    for (std::int64_t i = 0; i < storages[0].numel(); ++i)
      values.push_back(number_of(dtype, storages[0].storage()->data() + i * itemsize));
    return values;
  }
};

void run(Engine& engine, const std::string& op, const Views& views) {
  const std::vector<Tensor>& in = views.inputs;
  const Tensor& out = views.out;
  if (op == "copy_") return engine.copy(out, in.at(0));
  if (op == "zero_") return engine.fill(out, 0);
  if (op == "neg_") return engine.unary(Op::neg, out, out);
  if (op == "neg_out") return engine.unary(Op::neg, in.at(0), out);
  if (op == "abs_out") return engine.unary(Op::abs, in.at(0), out);
  if (op == "add_") return engine.binary(Op::add, out, in.at(0), out);
  if (op == "add_out") return engine.binary(Op::add, in.at(0), in.at(1), out);
  if (op == "addcmul_out")
    return engine.eval(apply(Op::addcmul, {in.at(0), in.at(1), in.at(2), 1}), out);
  throw Mismatch("unknown operation '" + op + "'");
}

}  // namespace

Verdict replay_overlap(Context& context, const json& recorded) {
  const Views views(recorded);
  expect_equal("internal overlap", std::string(name(has_internal_overlap(views.out))),
               recorded.at("internal").get<std::string>());
  std::vector<std::string> status;
  for (const Tensor& input : views.inputs)
    status.emplace_back(name(get_overlap_status(input, views.out)));
  expect_equal("overlap status", status, recorded.at("status").get<std::vector<std::string>>());

  const std::string op = recorded.at("op");
  // Where a newer PyTorch has stopped refusing, weft follows it.
  const std::string result = recorded.value("newer", recorded.at("res").get<std::string>());
  const std::vector<double> before = views.first_storage();
  if (result == "ok") {
    run(context.engine, op, views);
  } else {
    expect_error(result, [&] { run(context.engine, op, views); });
    expect_equal("storage after the error", views.first_storage(), before);
  }
  if (recorded.contains("after"))
    expect_equal("storage", views.first_storage(), recorded.at("after").get<std::vector<double>>());
  return Verdict::passed;
}

}  // namespace weft::conformance
