"""Who keeps the table how: the facts, one entry per implementation, and a table of them."""

from typing import NamedTuple


class Convention(NamedTuple):
    """How one implementation of Shaw's attention stores and reads its tables."""

    implementation: str
    version: str
    terms: str  # a^K, a^V, and who shares a table
    sign: str  # what a positive distance means
    row: str  # of a pair (i, j)
    num_rows: str
    outside: str  # what a pair beyond the last row gets
    short_queries: str  # position of the queries when they are fewer than the keys
    to_paper: str  # name of the function in relpos_np.conventions; "" if nothing is to be done
    back: str


SAME = {"sign": "j - i", "row": "clip(j-i, -k, k) + k", "num_rows": "2k+1", "outside": "end row"}
AS_IT_IS = {"to_paper": "", "back": ""}
BOTH = "a^K and a^V, heads share"
KEY_ONLY = "a^K, heads share"

CONVENTIONS = (
    Convention(
        "tensor2tensor dot_product_attention_relative", "1.15.7", terms=BOTH, **SAME, **AS_IT_IS,
        short_queries="last (allow_memory); one row for all (cache)",
    ),
    Convention(
        "OpenNMT-tf", "2.32.0", terms=BOTH, **SAME, **AS_IT_IS,
        short_queries="one row for all (cache)",
    ),
    Convention("CTranslate2", "4.8.5", terms=BOTH, **SAME, **AS_IT_IS, short_queries="last"),
    Convention(
        "evelinehong/Transformer_Relative_Position_PyTorch", "fd1163e", terms=BOTH, **SAME,
        **AS_IT_IS, short_queries="first",
    ),
    Convention(
        "OpenNMT-py", "3.5.1", terms="one table for both, heads share", **SAME,
        short_queries="one row for all (cache)", to_paper="from_one_table", back="to_one_table",
    ),
    Convention(
        "fairseq2", "0.8.1", terms="a^K and optional a^V, heads share", sign="j - i",
        row="clip(j-i, -left, right) + left", num_rows="left+right+1", outside="end row",
        short_queries="last", to_paper="from_left_right", back="to_left_right",
    ),
    Convention(
        "transformers wav2vec2-bert relative_key", "4.57.6", terms=KEY_ONLY, sign="j - i",
        row="clip(j-i, -left, right) + left", num_rows="left+right+1", outside="end row",
        short_queries="equal lengths only", to_paper="from_left_right", back="to_left_right",
    ),
    Convention(
        "transformers BERT relative_key", "4.57.6", terms=KEY_ONLY, sign="i - j",
        row="i-j + M-1", num_rows="2M-1", outside="IndexError",
        short_queries="all at the last position (cache)", to_paper="from_reversed",
        back="to_reversed",
    ),
    Convention(
        "lucidrains/conformer", "0.3.2", terms=KEY_ONLY, sign="i - j", row="clip(i-j, -M, M) + M",
        num_rows="2M+1", outside="end row", short_queries="equal lengths only",
        to_paper="from_reversed", back="to_reversed",
    ),
    Convention(
        "transformers VITS (and Piper, Coqui)", "4.57.6", terms=BOTH, sign="j - i", row="j-i + w",
        num_rows="2w+1", outside="zero", short_queries="equal lengths only",
        to_paper="from_zero_window", back="to_zero_window",
    ),
    Convention(
        "tensor2tensor Music Transformer, masked", "1.15.7",
        terms="a^K and optional a^V, shared or per head", sign="j - i <= 0", row="j-i + m-1",
        num_rows="m", outside="zero", short_queries="equal lengths only",
        to_paper="from_causal_window", back="to_causal_window",
    ),
)

HEADINGS = (
    "implementation", "version", "tables", "sign", "row of a pair", "rows", "outside",
    "fewer queries than keys stand", "to the paper's table", "and back",
)


def conventions_markdown():
    """The facts as a Markdown table, which a terminal shows just as well.

    Returns
    -------
    str

    Examples
    --------
    >>> print(conventions_markdown().splitlines()[3].split("|")[1].strip())
    OpenNMT-tf
    """
    lines = [
        [*entry[:4], f"`{entry.row}`", entry.num_rows, *entry[6:8],
         f"`{entry.to_paper}`" if entry.to_paper else "as it is",
         f"`{entry.back}`" if entry.back else "as it is"]
        for entry in CONVENTIONS
    ]
    return markdown_table(HEADINGS, lines)


def markdown_table(headings, rows):
    """A Markdown table whose columns also line up as plain text."""
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    lines = []
    for line in (headings, ["-" * width for width in widths], *rows):
        cells = [cell.ljust(width) for cell, width in zip(line, widths, strict=True)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
