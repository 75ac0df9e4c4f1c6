"""Tests of the whole server, as editors see it."""

import pytest

pytest.register_assert_rewrite("e2e.asking", "e2e.editor", "e2e.text")
