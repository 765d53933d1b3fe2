"""The article: a page in which one asks the models."""
