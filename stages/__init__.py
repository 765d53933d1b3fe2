"""The study's pipeline: one module a DVC stage, run as `python -m stages.<stage>` in the project's root."""

import os

# Threads that wait for each other by sleeping, not spinning: 10 % slower alone on two cores, but ten
# times faster beside any other busy process. Read by the OpenMP runtime when torch is imported.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

# cuBLAS gives the same sums each time with workspaces of fixed sizes. Read when CUDA starts.
os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
