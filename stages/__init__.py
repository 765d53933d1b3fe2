"""The study's pipeline: one module a DVC stage, run as `python -m stages.<stage>` in the project's root."""

import os
import signal
import sys

# While a stage imports torch, for seconds, Ctrl-C waits: `errors.command` lets it through and tells of it in one line.
if sys.argv[:1] == ["-m"]:  # so it is only while `python -m` imports the package
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})

# How long a thread spins for the others before it sleeps, in turns of some nanoseconds. A training step on two cores
# takes 0.266 s if it never spins, 0.254 s with this and 0.250 s with the runtime's 300000; beside another busy
# process 0.47, 0.58 and 0.69 s. Read by GCC's OpenMP runtime when torch is imported.
os.environ.setdefault("GOMP_SPINCOUNT", "10000")
