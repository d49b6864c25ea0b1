/**
 * A receiver of webhooks that takes nothing, and answers with the requested path: a receiver's answer is kept beside
 * its delivery.
 */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"

/** Starts it on the loopback address. */
export const failingReceiver = async (): Promise<{ readonly url: string; readonly close: () => Promise<void> }> => {
  const server = createServer((request, response) => {
    request.resume().on("end", () => response.writeHead(500).end(decodeURIComponent(request.url ?? "")))
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      })
  }
}
