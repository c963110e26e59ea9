"""Items with a card, one file a benchmark; `cards/` says what each is and what it cannot show."""
