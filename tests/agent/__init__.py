"""What an agent asks of the demo organization, and how few calls and words the answers take."""
