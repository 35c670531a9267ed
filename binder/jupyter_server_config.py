"""Without TCP_NODELAY every kernel message waits about 40 ms for the one before it to be acknowledged."""

from jupyter_server.services.kernels.websocket import KernelWebsocketHandler

_open = KernelWebsocketHandler.open


async def open_without_delay(self, kernel_id):
    self.set_nodelay(True)
    await _open(self, kernel_id)


KernelWebsocketHandler.open = open_without_delay
