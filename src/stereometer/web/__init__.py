"""What web pages and servers share: headers, limits and signed tokens."""
