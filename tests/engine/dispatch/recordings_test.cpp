// The dispatch tables that PyTorch 1.13.1 computes for every subset of nine registrations.
#include <weft/dispatch.h>

#include <gtest/gtest.h>

#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace weft {
namespace {

using Key = DispatchKey;

/// The kernels that are registered, bit by bit of a subset's number; FPGA's place as a backend
/// without an autograd key of its own is Other1's.
constexpr auto registrations = std::to_array<std::pair<Key, const char*>>({
    {Key::cpu, "C"},
    {Key::other1, "O"},
    {Key::lazy, "L"},
    {Key::autograd, "G"},
    {Key::autograd_cpu, "c"},
    {Key::autograd_other, "o"},
    {Key::composite_implicit_autograd, "I"},
    {Key::composite_explicit_autograd, "E"},
    {Key::composite_explicit_autograd_non_functional, "N"},
});

/// The rows that are looked at, in the order of a word's letters.
constexpr auto rows = std::to_array<Key>({
    Key::undefined,
    Key::cpu,
    Key::cuda,
    Key::lazy,
    Key::other1,
    Key::autograd_other,
    Key::autograd_cpu,
    Key::autograd_cuda,
    Key::autograd_lazy,
});

/// A word a subset, recorded with torch._C._dispatch_dump_table: the letter of the kernel in each
/// row; - is missing, ~ a fallthrough, ! ambiguous.
constexpr std::string_view recorded =
    // clang-format off
    "-----~~~~ -C---~~~~ ----O~~~~ -C--O~~~~ ---L-~~~~ -C-L-~~~~ ---LO~~~~ -C-LO~~~~ "
    "-----GGGG -C---GGGG ----OGGGG -C--OGGGG ---L-GGGG -C-L-GGGG ---LOGGGG -C-LOGGGG "
    "-----~c~~ -C---~c~~ ----O~c~~ -C--O~c~~ ---L-~c~~ -C-L-~c~~ ---LO~c~~ -C-LO~c~~ "
    "-----GcGG -C---GcGG ----OGcGG -C--OGcGG ---L-GcGG -C-L-GcGG ---LOGcGG -C-LOGcGG "
    "-----o~~~ -C---o~~~ ----Oo~~~ -C--Oo~~~ ---L-o~~~ -C-L-o~~~ ---LOo~~~ -C-LOo~~~ "
    "-----oGGG -C---oGGG ----OoGGG -C--OoGGG ---L-oGGG -C-L-oGGG ---LOoGGG -C-LOoGGG "
    "-----oc~~ -C---oc~~ ----Ooc~~ -C--Ooc~~ ---L-oc~~ -C-L-oc~~ ---LOoc~~ -C-LOoc~~ "
    "-----ocGG -C---ocGG ----OocGG -C--OocGG ---L-ocGG -C-L-ocGG ---LOocGG -C-LOocGG "
    "IIIIIIIII ICIIII~II IIIIO!III ICIIO!~II IIILIIII~ ICILII~I~ IIILO!II~ ICILO!~I~ "
    "IIIIIIIII ICIIIIGII IIIIO!III ICIIO!GII IIILIIIIG ICILIIGIG IIILO!IIG ICILO!GIG "
    "IIIIIIcII ICIIIIcII IIIIO!cII ICIIO!cII IIILIIcI~ ICILIIcI~ IIILO!cI~ ICILO!cI~ "
    "IIIIIIcII ICIIIIcII IIIIO!cII ICIIO!cII IIILIIcIG ICILIIcIG IIILO!cIG ICILO!cIG "
    "IIIIIoIII ICIIIo~II IIIIOoIII ICIIOo~II IIILIoII~ ICILIo~I~ IIILOoII~ ICILOo~I~ "
    "IIIIIoIII ICIIIoGII IIIIOoIII ICIIOoGII IIILIoIIG ICILIoGIG IIILOoIIG ICILOoGIG "
    "IIIIIocII ICIIIocII IIIIOocII ICIIOocII IIILIocI~ ICILIocI~ IIILOocI~ ICILOocI~ "
    "IIIIIocII ICIIIocII IIIIOocII ICIIOocII IIILIocIG ICILIocIG IIILOocIG ICILOocIG "
    "EEEEE~~~~ ECEEE~~~~ EEEEO~~~~ ECEEO~~~~ EEELE~~~~ ECELE~~~~ EEELO~~~~ ECELO~~~~ "
    "EEEEEGGGG ECEEEGGGG EEEEOGGGG ECEEOGGGG EEELEGGGG ECELEGGGG EEELOGGGG ECELOGGGG "
    "EEEEE~c~~ ECEEE~c~~ EEEEO~c~~ ECEEO~c~~ EEELE~c~~ ECELE~c~~ EEELO~c~~ ECELO~c~~ "
    "EEEEEGcGG ECEEEGcGG EEEEOGcGG ECEEOGcGG EEELEGcGG ECELEGcGG EEELOGcGG ECELOGcGG "
    "EEEEEo~~~ ECEEEo~~~ EEEEOo~~~ ECEEOo~~~ EEELEo~~~ ECELEo~~~ EEELOo~~~ ECELOo~~~ "
    "EEEEEoGGG ECEEEoGGG EEEEOoGGG ECEEOoGGG EEELEoGGG ECELEoGGG EEELOoGGG ECELOoGGG "
    "EEEEEoc~~ ECEEEoc~~ EEEEOoc~~ ECEEOoc~~ EEELEoc~~ ECELEoc~~ EEELOoc~~ ECELOoc~~ "
    "EEEEEocGG ECEEEocGG EEEEOocGG ECEEOocGG EEELEocGG ECELEocGG EEELOocGG ECELOocGG "
    "EEEEE~~~~ ECEEE~~~~ EEEEO!~~~ ECEEO!~~~ EEELE~~~~ ECELE~~~~ EEELO!~~~ ECELO!~~~ "
    "EEEEEGGGG ECEEEGGGG EEEEO!GGG ECEEO!GGG EEELEGGGG ECELEGGGG EEELO!GGG ECELO!GGG "
    "EEEEE~c~~ ECEEE~c~~ EEEEO!c~~ ECEEO!c~~ EEELE~c~~ ECELE~c~~ EEELO!c~~ ECELO!c~~ "
    "EEEEEGcGG ECEEEGcGG EEEEO!cGG ECEEO!cGG EEELEGcGG ECELEGcGG EEELO!cGG ECELO!cGG "
    "EEEEEo~~~ ECEEEo~~~ EEEEOo~~~ ECEEOo~~~ EEELEo~~~ ECELEo~~~ EEELOo~~~ ECELOo~~~ "
    "EEEEEoGGG ECEEEoGGG EEEEOoGGG ECEEOoGGG EEELEoGGG ECELEoGGG EEELOoGGG ECELOoGGG "
    "EEEEEoc~~ ECEEEoc~~ EEEEOoc~~ ECEEOoc~~ EEELEoc~~ ECELEoc~~ EEELOoc~~ ECELOoc~~ "
    "EEEEEocGG ECEEEocGG EEEEOocGG ECEEOocGG EEELEocGG ECELEocGG EEELOocGG ECELOocGG "
    "NNN-N~~~~ NCN-N~~~~ NNN-O~~~~ NCN-O~~~~ NNNLN~~~~ NCNLN~~~~ NNNLO~~~~ NCNLO~~~~ "
    "NNN-NGGGG NCN-NGGGG NNN-OGGGG NCN-OGGGG NNNLNGGGG NCNLNGGGG NNNLOGGGG NCNLOGGGG "
    "NNN-N~c~~ NCN-N~c~~ NNN-O~c~~ NCN-O~c~~ NNNLN~c~~ NCNLN~c~~ NNNLO~c~~ NCNLO~c~~ "
    "NNN-NGcGG NCN-NGcGG NNN-OGcGG NCN-OGcGG NNNLNGcGG NCNLNGcGG NNNLOGcGG NCNLOGcGG "
    "NNN-No~~~ NCN-No~~~ NNN-Oo~~~ NCN-Oo~~~ NNNLNo~~~ NCNLNo~~~ NNNLOo~~~ NCNLOo~~~ "
    "NNN-NoGGG NCN-NoGGG NNN-OoGGG NCN-OoGGG NNNLNoGGG NCNLNoGGG NNNLOoGGG NCNLOoGGG "
    "NNN-Noc~~ NCN-Noc~~ NNN-Ooc~~ NCN-Ooc~~ NNNLNoc~~ NCNLNoc~~ NNNLOoc~~ NCNLOoc~~ "
    "NNN-NocGG NCN-NocGG NNN-OocGG NCN-OocGG NNNLNocGG NCNLNocGG NNNLOocGG NCNLOocGG "
    "NNNINIIII NCNINI~II NNNIO!III NCNIO!~II NNNLNIII~ NCNLNI~I~ NNNLO!II~ NCNLO!~I~ "
    "NNNINIIII NCNINIGII NNNIO!III NCNIO!GII NNNLNIIIG NCNLNIGIG NNNLO!IIG NCNLO!GIG "
    "NNNINIcII NCNINIcII NNNIO!cII NCNIO!cII NNNLNIcI~ NCNLNIcI~ NNNLO!cI~ NCNLO!cI~ "
    "NNNINIcII NCNINIcII NNNIO!cII NCNIO!cII NNNLNIcIG NCNLNIcIG NNNLO!cIG NCNLO!cIG "
    "NNNINoIII NCNINo~II NNNIOoIII NCNIOo~II NNNLNoII~ NCNLNo~I~ NNNLOoII~ NCNLOo~I~ "
    "NNNINoIII NCNINoGII NNNIOoIII NCNIOoGII NNNLNoIIG NCNLNoGIG NNNLOoIIG NCNLOoGIG "
    "NNNINocII NCNINocII NNNIOocII NCNIOocII NNNLNocI~ NCNLNocI~ NNNLOocI~ NCNLOocI~ "
    "NNNINocII NCNINocII NNNIOocII NCNIOocII NNNLNocIG NCNLNocIG NNNLOocIG NCNLOocIG "
    "NNNEN~~~~ NCNEN~~~~ NNNEO~~~~ NCNEO~~~~ NNNLN~~~~ NCNLN~~~~ NNNLO~~~~ NCNLO~~~~ "
    "NNNENGGGG NCNENGGGG NNNEOGGGG NCNEOGGGG NNNLNGGGG NCNLNGGGG NNNLOGGGG NCNLOGGGG "
    "NNNEN~c~~ NCNEN~c~~ NNNEO~c~~ NCNEO~c~~ NNNLN~c~~ NCNLN~c~~ NNNLO~c~~ NCNLO~c~~ "
    "NNNENGcGG NCNENGcGG NNNEOGcGG NCNEOGcGG NNNLNGcGG NCNLNGcGG NNNLOGcGG NCNLOGcGG "
    "NNNENo~~~ NCNENo~~~ NNNEOo~~~ NCNEOo~~~ NNNLNo~~~ NCNLNo~~~ NNNLOo~~~ NCNLOo~~~ "
    "NNNENoGGG NCNENoGGG NNNEOoGGG NCNEOoGGG NNNLNoGGG NCNLNoGGG NNNLOoGGG NCNLOoGGG "
    "NNNENoc~~ NCNENoc~~ NNNEOoc~~ NCNEOoc~~ NNNLNoc~~ NCNLNoc~~ NNNLOoc~~ NCNLOoc~~ "
    "NNNENocGG NCNENocGG NNNEOocGG NCNEOocGG NNNLNocGG NCNLNocGG NNNLOocGG NCNLOocGG "
    "NNNEN~~~~ NCNEN~~~~ NNNEO!~~~ NCNEO!~~~ NNNLN~~~~ NCNLN~~~~ NNNLO!~~~ NCNLO!~~~ "
    "NNNENGGGG NCNENGGGG NNNEO!GGG NCNEO!GGG NNNLNGGGG NCNLNGGGG NNNLO!GGG NCNLO!GGG "
    "NNNEN~c~~ NCNEN~c~~ NNNEO!c~~ NCNEO!c~~ NNNLN~c~~ NCNLN~c~~ NNNLO!c~~ NCNLO!c~~ "
    "NNNENGcGG NCNENGcGG NNNEO!cGG NCNEO!cGG NNNLNGcGG NCNLNGcGG NNNLO!cGG NCNLO!cGG "
    "NNNENo~~~ NCNENo~~~ NNNEOo~~~ NCNEOo~~~ NNNLNo~~~ NCNLNo~~~ NNNLOo~~~ NCNLOo~~~ "
    "NNNENoGGG NCNENoGGG NNNEOoGGG NCNEOoGGG NNNLNoGGG NCNLNoGGG NNNLOoGGG NCNLOoGGG "
    "NNNENoc~~ NCNENoc~~ NNNEOoc~~ NCNEOoc~~ NNNLNoc~~ NCNLNoc~~ NNNLOoc~~ NCNLOoc~~ "
    "NNNENocGG NCNENocGG NNNEOocGG NCNEOocGG NNNLNocGG NCNLNocGG NNNLOocGG NCNLOocGG ";
// clang-format on

/// The letter of one row of a dumped table.
char letter_of(const std::string& table, Key row) {
  const std::string head = std::string(name(row)) + ": ";
  std::istringstream lines(table);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with(head)) continue;
    const std::string rest = line.substr(head.size());
    if (rest.starts_with("[ambiguous")) return '!';
    if (rest.starts_with("fallthrough")) return '~';
    // Kernels are registered in a "file" of one letter.
    const std::string_view place = "registered at ";
    return rest[rest.find(place) + place.size()];
  }
  return '-';
}

TEST(DispatchRecordings, TablesAreThoseOfPyTorch) {
  constexpr std::size_t num_subsets = std::size_t{1} << registrations.size();
  constexpr std::size_t word = rows.size() + 1;
  static_assert(recorded.size() == num_subsets * word);
  Registry registry;
  const Registration schema = registry.def("t::f(Tensor x) -> Tensor");
  const OperatorHandle op = registry.op("t::f");
  for (std::size_t subset = 0; subset < num_subsets; ++subset) {
    std::vector<Registration> kernels;
    for (std::size_t bit = 0; bit < registrations.size(); ++bit) {
      const auto& [key, letter] = registrations[bit];
      if ((subset >> bit) & 1) {
        kernels.push_back(registry.impl(
            "t::f", key, KernelFunction::typed([](const Tensor& x) { return x; }), {letter, 1}));
      }
    }
    const std::string table = op.dump_computed_table();
    std::string letters;
    for (const Key row : rows) letters += letter_of(table, row);
    EXPECT_EQ(letters, recorded.substr(subset * word, rows.size())) << op.dump_state();
  }
}

}  // namespace
}  // namespace weft
