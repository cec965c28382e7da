"""The spoken words of numbers of one or two digits: each digit gets a word or nothing.

In: a sentence cut into words, marks and digits. Out: each with its spoken text. In 42 the 4 is
"forty" and the 2 "two"; in 13 the 3 is "thirteen"; in 30 the 3 is "thirty".
"""

SMALL = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
).split()
TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()


def spoken(pieces: list[str]) -> list[tuple[str, str]]:
    """Pieces, each with its spoken text and the space before it; "" for a piece without one."""
    out: list[tuple[str, str]] = []
    for i, piece in enumerate(pieces):
        digit = piece.strip()
        if not digit.isdigit():
            out.append((piece, piece))
            continue
        # A digit at the start, after a space or after a non-digit starts a number.
        begins = piece != digit or not i or not pieces[i - 1].strip().isdigit()
        follows = i + 1 < len(pieces) and pieces[i + 1].isdigit()
        if begins:
            before = "" if piece == digit and i == 0 else " "
            said = ("" if digit == "1" else TENS[int(digit) - 2]) if follows else SMALL[int(digit)]
        else:
            before, tens = " ", pieces[i - 1].strip()
            said = SMALL[10 + int(digit)] if tens == "1" else SMALL[int(digit)]
            if tens != "1" and digit == "0":
                said = ""
        out.append((piece, before + said if said else ""))
    return out
