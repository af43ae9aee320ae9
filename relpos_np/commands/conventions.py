"""``python -m relpos_np conventions``: who keeps Shaw's tables how, and how to convert them."""

SUMMARY = "how public implementations store their tables, and the function that converts each"


def add_arguments(parser):
    """No arguments."""


def run(arguments):
    """Print the table; returns 0."""
    from relpos_np.conventions import conventions_markdown

    print(conventions_markdown())
    return 0
