"""The stages of the project on the workers of a Dask cluster (`python -m stages.cluster`)."""

import sys

try:
    import distributed  # noqa: F401
except ImportError:
    sys.exit("error: Dask is not installed here; run `pip install -r requirements-cluster.txt`")
