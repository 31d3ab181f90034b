"""`python -m mrtr_tools.cli` is `mrtr-tools`."""

from mrtr_tools.cli import main

if __name__ == "__main__":
    main()
