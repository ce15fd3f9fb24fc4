"""Look for calls and spilled registers in the innermost loops of the AVX-512 bodies.

    python tools/check_assembly.py PROGRAM

The program is compiled with `-C symbol-mangling-version=v0`, which names the types of generic
functions; objdump (binutils) disassembles it. A call in such a loop, or a vector register stored on
the stack, may cost more than the computation.

Nor may the program contain the function `fma`, which code without the instruction calls: it is
slow, and inexact on some systems.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass

# The checked bodies, <… as Copies>::on_avx512, and their known numbers of calls and spills. (Bodies
# that fill factors have loops of every family, of which few are hot: `make counts` covers them.)
BODIES = {
    "game::sweep::FromOneEnd": 0,
    "game::sweep::FromBothEnds": 30,
    "game::recursion::ByRecursion": 0,
    "game::interactions::EvaluateCoalitions": 0,
    "game::coalitions_of_two::EvaluatePairs": 8,
    "game::series::EvaluateSeries": 0,
    "walk::cell::Reduce": 2,
    "game::quantity::AddValues": 0,
    "sample::accumulate::Accumulate": 12,
    "variance::covariances::MultiplyDeviations": 0,
    "absent::point_means::AddPairsOfPoints": 0,
    "simd::sum::AddWeighted": 0,
    "coalitions::range::Multiply": 0,
    "coalitions::orders::AddUp": 0,
    "coupling::Couple": 51,
}

FUNCTION = re.compile(r"^[0-9a-f]+ <<(.*?)(?:<.*>)? as .*::Copies>::on_avx512::<\d+(?:usize)?>>:$")
INSTRUCTION = re.compile(r"^ +([0-9a-f]+):\t(\S+) *(.*)$")
MULTIPLY = re.compile(r"vf[n]?m(add|sub)|vmulpd")
SPILL = re.compile(r"^%[xyz]mm\d+,.*\(%rsp")


@dataclass(frozen=True)
class Instruction:
    """One line of a disassembly."""

    address: int
    name: str
    operands: str

    @property
    def target(self) -> int | None:
        """The target of a jump, if it is known."""
        found = re.match(r"([0-9a-f]+)\b", self.operands)
        return int(found[1], 16) if self.name.startswith("j") and found else None

    @property
    def is_vector_product(self) -> bool:
        """Whether it multiplies vectors of eight numbers."""
        return MULTIPLY.match(self.name) is not None and "%zmm" in self.operands

    @property
    def is_unwanted(self) -> bool:
        """Whether it is a call or a spill."""
        is_spill = self.name.startswith("vmov") and SPILL.match(self.operands) is not None
        return self.name.startswith("call") or is_spill


def functions(program: str) -> Iterator[tuple[str, list[Instruction]]]:
    """Yield the bodies compiled for AVX-512, with their types."""
    command = ["objdump", "--disassemble", "--demangle", "--no-show-raw-insn", program]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    for function in listing.split("\n\n"):
        head, *lines = function.strip().split("\n")
        if (found := FUNCTION.match(head)) is not None:
            matches = (INSTRUCTION.match(line) for line in lines)
            yield (
                found[1].replace("pkex_core::", ""),
                [Instruction(int(m[1], 16), m[2], m[3]) for m in matches if m is not None],
            )


def innermost_loops(function: list[Instruction]) -> Iterator[list[Instruction]]:
    """Yield the lines between a backward jump and its target, if they contain no other loop."""
    first = function[0].address
    ranges = {
        (one.target, one.address)
        for one in function
        if one.target is not None and first <= one.target <= one.address
    }
    for start, end in sorted(ranges):
        if not any((start, end) != (s, e) and start <= s and e <= end for s, e in ranges):
            yield [one for one in function if start <= one.address <= end]


def contains_fma(program: str) -> bool:
    """Return whether any code calls the library's fused multiply-add."""
    command = ["nm", "--format=posix", program]
    listing = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return any(re.match(r"fma(@|$)", line.split(" ", 1)[0]) for line in listing.splitlines())


def main(program: str) -> int:
    """Print the counts; return 1 if they exceed the known ones or a body is missing."""
    missing, failed = dict(BODIES), contains_fma(program)
    if failed:
        print("fma is called: functions of closures, if they are not inlined, lack the instruction")
    for name, function in functions(program):
        if name not in missing:
            continue
        known = missing.pop(name)
        hot = [x for x in innermost_loops(function) if any(one.is_vector_product for one in x)]
        unwanted = [one for loop in hot for one in loop if one.is_unwanted]
        print(f"{name}: {len(hot)} inner loops, {len(unwanted)} calls and spills, {known} known")
        if len(unwanted) > known or not hot:
            failed = True
            for one in unwanted:
                print(f"    {one.address:x}: {one.name} {one.operands}")
    for name in missing:
        print(f"{name}: not found; if it has another name now, change BODIES")
    return int(failed or bool(missing))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
