"""Requests that are refused with a reason."""

from lsprotocol import types
from pygls.exceptions import JsonRpcException


class RefusedError(JsonRpcException):
    """A request that makes sense but cannot be done; the message is a sentence for the user."""

    CODE = types.LSPErrorCodes.RequestFailed.value
