"""The commands: arguments, output and exit codes. What they do is in the packages below.

A command imports what it does in its body, because every module of commands is imported for
`pganon --help`, and methods, policies and statements take longer to import than most commands run.
`tests/unit/cli/test_cli_commands.py` checks it.
"""
