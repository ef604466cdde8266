"""Mutation testing of the numerical heart: would the tests notice if a line of it were wrong?

    python -m benchmarks.mutation                  a sample, and what the tests make of it
    python -m benchmarks.mutation --each 50        a larger one, which contains the smaller
    python -m benchmarks.mutation --seed 1         another one, with a store of its own
    python -m benchmarks.mutation --again          survivors once more, after tests were added
    python -m benchmarks.mutation --report         the table of what is known, nothing is run

A mutant is a module with one small change: ``<`` for ``<=``, a number doubled, a statement left
out (``mutants``). Of the tests that concern the module (``heart``) those that call the function are
run, two minutes of them at most, with its code in the functions of a forked session (``swapping``),
or with the mutant imported in place of its module (``execution``). If they pass, it has survived,
and somebody looks at it: either a test is missing, or the change makes no difference, which
``survivors.toml`` says of it and why.

The mutator is our own, because those that exist want a layout that is not ours: mutmut copies one
source folder and wraps every function in another, which numba does not compile and constants of a
module escape; cosmic-ray edits the files in place, so that nobody may work in the folder meanwhile.
Here a mutant lives in the import system of one forked process: no file changes, imports of numpy,
scipy and hypothesis are paid for once, and constants, tables and compiled loops are mutated, too.
"""
