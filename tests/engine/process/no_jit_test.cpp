// Where no code may be generated the interpreter computes everything, with the same bits.  Each
// case is a process of its own, for what forbids code is never lifted.
#include <weft/engine.h>
#include <weft/error.h>
#include <weft/info.h>

#include "runtime/hash.h"
#include "runtime/log.h"
#include "tests/in_child.h"
#include "tests/matchers.h"

#include <gtest/gtest.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#ifndef PR_SET_MDWE
#define PR_SET_MDWE 65
#define PR_MDWE_REFUSE_EXEC_GAIN 1
#endif

namespace weft {
namespace {

using matchers::HasSubstr;

/// Calls of many kinds, and their results in a few digits.
std::string compute(const std::string& backend) {
  EngineOptions options;
  options.backend = backend;
  options.threshold = 0;  // LLVM takes what it may at once
  options.background = false;
  Engine engine(options);
  const Tensor x = engine.to(arange(-60, 60), DType::f32).view({10, 12});
  const Tensor y = engine.to(arange(1, 13), DType::bf16);
  const Tensor z = engine.to(arange(0, 240), DType::c64).view({2, 10, 12}).conj();
  std::vector<Tensor> results;
  for (int run = 0; run < 3; ++run) {  // the second finds its plan, the third what became of it
    results.push_back(engine.eval(ops::tanh(Expr(x) / 7 + y) * 2));
    results.push_back(engine.eval(ops::where(Expr(x) > 3, Expr(x), Expr(y))));
    results.push_back(engine.eval(Expr(z) * x - 1.5));
    results.push_back(engine.contiguous(x.t()));
    results.push_back(engine.to(x.t(), DType::f16));
    results.push_back(engine.to(x, DType::i8));
    results.push_back(engine.reduce(Reduction::sum, x.t(), {.dims = {0}}));
    results.push_back(engine.reduce(Reduction::cumsum, x, {.dims = {1}}));
    const Tensor out = engine.clone(x);
    engine.prepare(Expr(out) * out + 1, out).run();
    results.push_back(out);
  }
  std::uint64_t hash = 0;
  for (const Tensor& result : results) {
    const Tensor dense = engine.contiguous(engine.resolve_conj(result));
    hash = hash * 31 + hash_bytes(dense.data(), dense.storage()->size_bytes());
  }
  return detail::concat(results.size(), " results, ", hash);
}

bool has_code_memory() {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);)
    if (line.find("weft-code") != std::string::npos) return true;
  return false;
}

std::string read_all(int file) {
  std::string text;
  char buffer[4096];
  for (ssize_t count; (count = read(file, buffer, sizeof buffer)) > 0;)
    text.append(buffer, static_cast<std::size_t>(count));
  close(file);
  return text;
}

struct Outcome {
  std::string answer;  ///< what the work returned
  std::string log;     ///< what it wrote to stderr
  int status = 0;
};

/// Runs `work` in a child and waits for it.
Outcome run_in_child(const std::function<std::string()>& work) {
  int answer[2], log[2];
  if (pipe(answer) != 0 || pipe(log) != 0) throw DeviceError("no pipes");
  const pid_t child = fork_flushed();
  if (child < 0) throw DeviceError("no process");
  if (child == 0) {
    alarm(most_child_s);
    dup2(log[1], STDERR_FILENO);
    std::string text;
    int status = 0;
    try {
      set_log_topics("tier");
      text = work();
    } catch (const std::exception& error) {
      text = error.what();
      status = 1;
    }
    for (std::size_t at = 0; at < text.size();) {
      const ssize_t count = write(answer[1], text.data() + at, text.size() - at);
      if (count <= 0) _exit(2);
      at += static_cast<std::size_t>(count);
    }
    _exit(status);
  }
  close(answer[1]);
  close(log[1]);
  Outcome outcome;
  outcome.log = read_all(log[0]);  // first: an answer fits into its pipe, and a log may not
  outcome.answer = read_all(answer[0]);
  waitpid(child, &outcome.status, 0);
  return outcome;
}

int times(const std::string& part, const std::string& text) {
  int count = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
    ++count;
  return count;
}

constexpr const char* said_once = "no code is generated, the interpreter serves: ";

/// Whether memory may not be made executable from now on, by a filter of system calls.
bool forbid_executable_memory() {
  const auto low_word = [](int argument) {
    return static_cast<std::uint32_t>(offsetof(seccomp_data, args) +
                                      static_cast<std::size_t>(argument) * 8);
  };
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pkey_mprotect, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, low_word(2)),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter, 0, 0) == 0;
}

const Outcome& usual() {
  static const Outcome outcome = run_in_child([] { return compute("auto"); });
  return outcome;
}

TEST(NoJit, EnvironmentTurnsCodeOff) {
  ASSERT_EQ(usual().status, 0) << usual().answer;
  EXPECT_EQ(times(said_once, usual().log), 0) << usual().log;
  const Outcome off = run_in_child([] {
    setenv("WEFT_JIT", "off", 1);
    const std::string result = compute("auto");
    return has_code_memory() ? "there is code memory" : result;
  });
  EXPECT_EQ(off.status, 0);
  EXPECT_EQ(off.answer, usual().answer);
  EXPECT_EQ(times(said_once, off.log), 1) << off.log;
  EXPECT_THAT(off.log, HasSubstr("WEFT_JIT=off in the environment"));
}

TEST(NoJit, BackendsSayWhyTheyAreNotUsable) {
  const Outcome off = run_in_child([] {
    setenv("WEFT_JIT", "off", 1);
    std::string reasons;
    for (const EngineInfo::Backend& backend : engine_info().backends)
      reasons += backend.name + ": " + backend.unavailable_reason + "\n";
    for (const char* backend : {"xbyak", "llvm"}) {
      try {
        compute(backend);
        reasons += "no error\n";
      } catch (const UnsupportedError& error) {
        reasons += detail::concat(error.what(), "\n");
      }
    }
    return reasons;
  });
  EXPECT_THAT(off.answer, HasSubstr("interp: \n"));
#if WEFT_HAS_XBYAK
  EXPECT_THAT(off.answer, HasSubstr("xbyak: WEFT_JIT=off in the environment\n"));
  EXPECT_THAT(off.answer, HasSubstr("backend 'xbyak' is not usable: WEFT_JIT=off"));
#endif
  EXPECT_EQ(times("no error", off.answer), 0) << off.answer;
}

TEST(NoJit, OtherValuesAreIgnoredAndSaidSo) {
  const Outcome outcome = run_in_child([] {
    setenv("WEFT_JIT", "perhaps", 1);
    return compute("auto");
  });
  EXPECT_EQ(outcome.status, 0);
  EXPECT_EQ(outcome.answer, usual().answer);
  EXPECT_THAT(outcome.log, HasSubstr("WEFT_JIT='perhaps' is ignored: expected on or off"));
}

TEST(NoJit, AFilterOfSystemCallsLeavesTheInterpreter) {
  const Outcome filtered = run_in_child([] {
    if (!forbid_executable_memory()) return std::string("no filter");
    const std::string result = compute("auto");
    return has_code_memory() ? "there is code memory" : result;
  });
  if (filtered.answer == "no filter") GTEST_SKIP() << "this system has no seccomp filters";
  EXPECT_EQ(filtered.status, 0);
  EXPECT_EQ(filtered.answer, usual().answer);
  EXPECT_EQ(times(said_once, filtered.log), 1) << filtered.log;
  EXPECT_THAT(filtered.log, HasSubstr("mmap of executable memory of 1048576 bytes failed: "));
}

TEST(NoJit, AFilterThatComesLaterLeavesWhatThereIs) {
  const Outcome filtered = run_in_child([] {
    const std::string before = compute("auto");
    if (!forbid_executable_memory()) return std::string("no filter");
    return compute("auto") == before ? before : "another result";
  });
  if (filtered.answer == "no filter") GTEST_SKIP() << "this system has no seccomp filters";
  EXPECT_EQ(filtered.status, 0);
  EXPECT_EQ(filtered.answer, usual().answer);
}

/// Memory that is written once and then run, which MDWE is against, is not what weft has: its
/// mappings are either from the start.
TEST(NoJit, MemoryDenyWriteExecuteIsNoHindrance) {
  const Outcome denied = run_in_child([] {
    if (prctl(PR_SET_MDWE, PR_MDWE_REFUSE_EXEC_GAIN, 0, 0, 0) != 0) return std::string("no MDWE");
    void* const both =
        mmap(nullptr, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (both != MAP_FAILED) return std::string("MDWE does not work");
    return compute("auto");
  });
  if (denied.answer == "no MDWE") GTEST_SKIP() << "this kernel has no PR_SET_MDWE";
  EXPECT_EQ(denied.status, 0);
  EXPECT_EQ(denied.answer, usual().answer);
}

}  // namespace
}  // namespace weft
