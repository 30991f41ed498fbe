"""The exam: what a crate's tests and hidden checks see, told to the examiner and compared outside the program."""
