"""Where counting and tokenizing run: on this machine, or on a Ray cluster."""
