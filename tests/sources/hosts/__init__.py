"""What git hosts tell an operator's credentials, against fakes of each."""
