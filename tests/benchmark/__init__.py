"""How much faster than the plain reference training and evaluation are: `python -m tests.benchmark`.

Three sides do the same training steps: the plain reference, the plain reference under torch.compile, the study. They
run in turn, so that whatever else the machine does meets all of them, and their medians are compared. Each processor
class that the machine can run as has processes of its own. All rows are in reports/benchmark.json.

::

    __main__.py   what is asked for, the processor classes, and the file
    worker.py     a variant's row, timed as one class
    workload.py   the sides
    products.py   matrix products alone: the peak, and what a recurrence must do step by step
"""

import stages as stages  # what it sets for the threads of torch counts only before torch is imported
