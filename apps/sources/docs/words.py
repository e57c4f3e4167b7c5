"""Text → the words in it, as the index has them."""

import unicodedata


def words_in(text: str) -> list[str]:
    """In lower case: letters, digits and marks, so nothing in them is FTS5 syntax."""
    composed = unicodedata.normalize("NFC", text).lower()
    words = "".join(c if unicodedata.category(c)[0] in "LMN" else " " for c in composed).split()
    return [word for word in words if unicodedata.category(word[0])[0] != "M"]  # a mark on its own is no word


def without_marks(word: str) -> str:
    """As the index folds words: without diacritics."""
    letters = unicodedata.normalize("NFD", word)
    return unicodedata.normalize("NFC", "".join(c for c in letters if unicodedata.category(c) != "Mn"))
