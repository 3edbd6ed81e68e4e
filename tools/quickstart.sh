#!/usr/bin/env bash
# From a fresh Debian 12 machine to the main job on a real photo: packages, Release build of the library, the command line and
# the examples in build/, examples/photo_to_tensor.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

"$root/tools/install-deps.sh"
configure
build_targets weft_cli weft_examples

say "The main job: a photo, normalised to an f32 NCHW batch in one compiled pass"
"$build/bin/photo_to_tensor" "$root/examples/data/astronaut.png" "$build/photo_to_tensor.png"
say "Done.  Look at build/photo_to_tensor.png; try build/bin/weft --help; build and run the tests with tools/test.sh"
