"""The model to read in one sitting: what the study computes, written for reading and for nothing else.

Read in this order::

    attention.py   how each softmax variant mixes characters, by its paper's formula
    recurrent.py   how the other variants do, one position after another
    model.py       the transformer around it, its first weights, its loss
    training.py    optimizers, learning rate, a step, the loop
    generation.py  greedy answers
    __main__.py    all of it: pretrain, finetune, answer; `python -m stages.plain --variant rope`

A batch is padded and in float32. Questions are answered one at a time, and each character reads all of the text anew.
The package imports settings, corpus and system of `stages`, and nothing of its model or training. Tests hold both
equal; `python -m tests.benchmark` times both.
"""
