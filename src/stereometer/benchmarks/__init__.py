"""Items with a card. One file a benchmark; `cards/` says what each is, where it is from and what it cannot show."""
