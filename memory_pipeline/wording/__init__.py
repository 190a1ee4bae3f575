"""What the words of a memory say: normal forms, sentences, facts and conflicts. Pure functions of text."""
