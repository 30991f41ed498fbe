"""Specs that a language model writes: what is ordered, in which words, and what has arrived."""
