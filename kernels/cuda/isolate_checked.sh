#!/bin/sh
# isolate_checked.sh LD OBJCOPY RENAMES SHOWN OUTPUT INPUT...: joins objects of checked kernels into one that shows the
# symbol SHOWN. Whatever the compiler
# shares between objects by name (inline functions, templates) stays inside: an unchecked copy must not replace a checked
# one, nor the other way round.
set -eu
ld=$1 objcopy=$2 renames=$3 shown=$4 output=$5
shift 5
"$ld" -r --force-group-allocation "$@" -o "$output.joined"
"$objcopy" --redefine-syms="$renames" --keep-global-symbol="$shown" "$output.joined" "$output"
rm "$output.joined"
