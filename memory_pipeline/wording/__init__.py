"""Analyses the words of a memory: normal forms, sentences, facts and conflicts. Pure functions of text."""
