"""The plain reference: what the study computes, written for reading and for nothing else.

One padded batch of whole contexts in float32, one document and one question at a time, every character's full
forward pass. It shares settings and vocabulary with `stages`, and none of its computation. Tests compare the
fast path with it; `python -m tests.benchmark` times both.

::

    attention.py   each variant's mixing, by name
    model.py       the transformer around it
    text.py        training examples, in strings
    training.py    a step
    generation.py  greedy answers
"""
