"""The study of capacity: how many bits a model stores, by its mixer, its load and how often it sees a pair.

Read pairs.py first, then cell.py, plan.py, train.py and page.py.
"""
