"""``python -m subword``: the command line, where the console script is not on the path."""

from subword.cli import main

if __name__ == "__main__":
    main()
