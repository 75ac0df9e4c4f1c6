"""The protocol between the server and its client: pygls, where it keeps to the specification."""
