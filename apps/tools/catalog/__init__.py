"""One file per tool. The file's name is the tool's name."""
