#!/bin/sh
# usage: compiled_before.sh FOLDER COMPILER ARGUMENT...   stands before the compiler of a build that has weft as a subdirectory
# weft/: what the build of weft alone in FOLDER has compiled is taken from there, anything else is compiled.
folder=$1
shift
output='' dependencies='' previous=''
for argument; do
  case $previous in
    -o) output=$argument ;;
    -MF) dependencies=$argument ;;
  esac
  previous=$argument
done

before=$folder/${output#weft/}
if [ "$output" = "${output#weft/}" ] || [ ! -e "$before" ]; then exec "$@"; fi
case $output in
  *.gch) : >"$output" ;; # nobody compiles what would read it
  *) cp "$before" "$output" ;;
esac
[ -z "$dependencies" ] || echo "$output:" >"$dependencies"
