"""How much faster than the plain reference training and evaluation are: `python -m tests.benchmark`.

Three sides do the same training steps: the plain reference, the plain reference under torch.compile, the study. Each
processor class that the machine can run as has a process of its own. All sides of all classes run in turn, so that
whatever else the machine does meets all of them; what is compared are the medians. The table goes to the terminal,
everything to reports/benchmark.json.

::

    __main__.py   what is asked for, and the rounds
    classes.py    processor classes, and their processes
    worker.py     what such a process does
    workload.py   the sides
    products.py   matrix products alone: the peak, and what a recurrence must do step by step
    table.py      the figures of a row
"""

import stages as stages  # what it sets for the threads of torch counts only before torch is imported
