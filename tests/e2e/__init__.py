"""End-to-end tests of the server."""

import pytest

pytest.register_assert_rewrite("e2e.editor", "e2e.text")
