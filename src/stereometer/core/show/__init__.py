"""Tables and figures as plain data, numbers as text: what the terminal and the page both render."""
