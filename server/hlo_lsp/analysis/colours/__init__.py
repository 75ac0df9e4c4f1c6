"""What each part of a text is, for editors that colour by meaning."""
