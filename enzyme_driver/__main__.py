"""`python -m enzyme_driver` is `adgen`."""

from enzyme_driver.cli import main

if __name__ == "__main__":
    main()
