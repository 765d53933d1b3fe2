"""The stages of the project on the workers of a Dask cluster (`python -m stages cluster`)."""
