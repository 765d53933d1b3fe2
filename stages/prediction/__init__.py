"""The study of prediction: whether untrained weights tell which mixer will answer from what it has read.

Read alignment.py first, then cell.py, train.py and page.py.
"""
