// What exit() must leave alone.
//
// LLVM builds objects with destructors on the way, in whatever compilation first needs them, and a
// later registration runs earlier at exit(): no handler of ours could stop the compiling thread
// before all of them.  The module is never closed and its memory goes with the process, so nothing
// linked into it registers anything: neither the destructors of static objects nor what is given to
// std::atexit().

// NOLINTNEXTLINE(bugprone-reserved-identifier,readability-identifier-naming): the C library's
extern "C" __attribute__((visibility("hidden"))) int __cxa_atexit(void (*)(void*), void*, void*) {
  return 0;
}
