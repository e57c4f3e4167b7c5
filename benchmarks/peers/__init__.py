"""What Porthole is compared with: the same rows of the same database, each as its own documentation advises for speed.

They run in build/bench, which holds nothing of Porthole. All look the bearer up in the database, by one query.
"""
