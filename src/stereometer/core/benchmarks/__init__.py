"""Items with a card, one file per benchmark; `cards/` says what each is and what it cannot show."""
