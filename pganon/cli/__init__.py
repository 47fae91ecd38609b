"""The commands: arguments, output and exit codes. What they do is in the packages below."""
