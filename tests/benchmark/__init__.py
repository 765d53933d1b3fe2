"""How much faster than the plain model the study trains and answers: `python -m tests.benchmark`.

The sides run in turn, so that whatever else the machine does meets all of them, and their medians are compared. The
variables in docs/performance.md hold a processor to a slower class. All rows are in reports/benchmark.json.
"""

import stages as stages  # what it sets for the threads of torch counts only before torch is imported
