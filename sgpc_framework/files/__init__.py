"""Model files: ``model_files`` reads and writes them, from the zip to the numbers in it.

archive         one sealed zip of arrays; trusts nothing that it reads
manifest        the JSON beside the arrays, read strictly
stored_inputs   basis inputs as an array: numbers, strings, or in the words of their kernel
stored_models   one model as named arrays and plain data, and back
"""
