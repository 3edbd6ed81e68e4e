#!/usr/bin/env python3
"""What weft's libraries call of others either stands behind a function that can be made to fail, or
is known not to fail in a way that anybody could be told of.

usage: imports_test.py NM WRAPPED LIBRARY...      WRAPPED: names with commas between them
"""
import re
import subprocess
import sys

# What ends the process or returns nothing to look at, and what is asked for constants.
CANNOT_FAIL = set("""
    atexit closedir dl_iterate_phdr dlclose dlerror environ free geteuid getpid gettid pthread_detach
    pthread_mutex_lock pthread_mutex_unlock pthread_rwlock_rdlock pthread_rwlock_unlock
    pthread_rwlock_wrlock pthread_self pthread_sigmask sched_yield
    pthread_attr_destroy pthread_attr_setinheritsched pthread_attr_setschedparam pthread_attr_setschedpolicy
    pthread_setcancelstate sched_getscheduler getauxval secure_getenv sigdelset sigfillset
    posix_spawn_file_actions_destroy strerror sysconf time
    atoi fprintf memchr memcmp memcpy memmove memset snprintf stderr strchr strcmp strlen strnlen strtol strtoll vsnprintf
    bcmp isalnum isspace crc32_z deflate deflateEnd inflateEnd
    """.split())
# Waiting may end early, which it is prepared for; a thread's name and priority are for the eye.
IGNORED = {"syscall", "getpriority", "setpriority", "pthread_setname_np"}
# Named by the tables of functions of classes in Xbyak's headers, whose memory weft never asks for.
OF_XBYAK = {"mprotect", "posix_memalign"}
MATHEMATICS = re.compile(r"c?(a?(sin|cos|tan)h?|exp|log|pow|sqrt)f?|(fma|fmod|frexp|ldexp|logb|log10|log2|nearbyint|scalbn|"
                         r"sincos|sin|cos|tan|floor|ceil|trunc|rint|exp2|expm1|log1p|hypot|cbrt|erf|lgamma|round|remainder|atan2|modf)[fl]?")
# The C++ library asks the system for something in these; the rest of it only throws.
OF_SYSTEM = re.compile(r"_ZNSt10filesystem(\d|7__cxx1118directory_iterator(C1|9increment|pp)|7__cxx1128recursive)|"
                       r"_ZNSt6thread15_M_start|basic_[io]?fstream|basic_filebuf|random_device")
PATHS = re.compile(r"_ZNSt10filesystem7__cxx114path")


def symbols(nm, option, libraries):
    lines = subprocess.run([nm, option, *libraries], check=True, capture_output=True, text=True).stdout.splitlines()
    return {line.split()[-1] for line in lines if re.search(r" [A-Za-z] \S+$", line)}


def needs_wrap(name):
    if name.startswith("_Z"):
        return OF_SYSTEM.search(name) is not None and PATHS.match(name) is None
    if name.startswith(("_", "Sleef_")):
        return False  # the compiler's own and mathematics
    return name not in CANNOT_FAIL | IGNORED | OF_XBYAK and MATHEMATICS.fullmatch(name) is None


def main():
    nm, wrapped, *libraries = sys.argv[1:]
    imported = symbols(nm, "--undefined-only", libraries) - symbols(nm, "--defined-only", libraries)
    missing = sorted(name for name in imported if needs_wrap(name) and name not in wrapped.split(","))
    for name in missing:
        print(f"{name} can fail, but tests/faults puts nothing in front of it")
    print(f"{len(imported)} functions and objects of other libraries, {len(missing)} of them amiss")
    return 1 if missing or not imported else 0


if __name__ == "__main__":
    sys.exit(main())
