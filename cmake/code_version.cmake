# Writes the definition of weft::jit::code_version, a hash of the files SOURCES, to OUTPUT; leaves the file alone if it has not
# changed.
set(all "")
foreach(file IN LISTS SOURCES)
  file(SHA256 "${file}" hash)
  string(APPEND all "${hash}")
endforeach()
string(SHA256 version "${all}")
string(SUBSTRING "${version}" 0 32 version)
file(WRITE "${OUTPUT}.new" "#include \"jit/llvm/code_version.h\"\n\nconst char* const weft::jit::code_version = \"${version}\";\n")
file(COPY_FILE "${OUTPUT}.new" "${OUTPUT}" ONLY_IF_DIFFERENT)
file(REMOVE "${OUTPUT}.new")
