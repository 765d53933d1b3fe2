"""Trials: a recipe with a change, trained, asked and put into a row; a study is a file of them, in YAML."""
