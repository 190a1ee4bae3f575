"""Turns a cluster into one memory: models that propose a draft, and the judge that accepts or refuses it."""
