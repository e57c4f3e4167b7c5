"""Lines of a file's bytes, found without a step for each: a file of nothing but line breaks costs what any other does.

A line ends behind its \\n, as for git: \\r\\n is one break, a lone \\r none.
"""


def line_count(data: bytes) -> int:
    """The last line need not end in a break; an empty file has no line."""
    return data.count(b"\n") + (not data.endswith(b"\n") if data else 0)


def behind_breaks(data: bytes, number: int, start: int, end: int) -> int | None:
    """The place behind so many line breaks after `start`; None where data[start:end] has fewer of them.

    Halves what it looks at, so all the looks together are at twice as many bytes as there are.
    """
    if number == 0:
        return start
    if data.count(b"\n", start, end) < number:
        return None
    while end - start > 1:
        middle = (start + end) // 2
        before = data.count(b"\n", start, middle)
        if before >= number:
            end = middle
        else:
            start, number = middle, number - before
    return end
