"""The features of an editor, as plain data: hover, navigation, completion, tokens, hints."""
