"""How much faster than the plain reference training and evaluation are: `python -m tests.benchmark`.

Both sides run in turn in one process, so that whatever else the machine does meets both; what is compared are
the medians. The table goes to the terminal, everything to reports/benchmark.json.
"""

import stages as stages  # what it sets for the threads of torch counts only before torch is imported
