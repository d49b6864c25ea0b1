/** A scripted service on a loopback port, for programs that a test starts. */
import { createServer } from "node:http"
import type { AddressInfo } from "node:net"
import { answerTo, type SentRequest } from "../../testing/scripted-server.ts"
import { scriptedService } from "./governed-agent.ts"

/** Starts one. Its key is `k`; any other is refused with 401. */
export const serveService = async () => {
  const service = scriptedService()
  const seen: Array<SentRequest> = []
  // oxlint-disable-next-line no-explicit-any
  const taken: Array<any> = []
  const server = createServer((request, response) => {
    const pieces: Array<Buffer> = []
    request.on("data", (piece: Buffer) => pieces.push(piece))
    request.on("end", () => {
      const body = Buffer.concat(pieces).toString()
      const sent: SentRequest = {
        method: request.method!,
        path: request.url!,
        headers: new Headers(request.headers as Record<string, string>),
        json: body === "" ? undefined : JSON.parse(body)
      }
      seen.push(sent)
      const isKey = sent.headers.get("authorization") === "Bearer k"
      const answer = isKey ? answerTo(sent, service.handle(sent)) : { status: 401, json: {} }
      if (answer === "hang") return
      if (answer === "cut") return void response.destroy()
      if (sent.path.endsWith("/decisions") && answer.status === 201) taken.push(...sent.json.decisions)
      response.writeHead(answer.status, { "content-type": "application/json" })
      response.end(JSON.stringify(answer.json ?? null))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  return {
    ...service,
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    /** Decisions witnessed so far. */
    // oxlint-disable-next-line no-explicit-any
    decisions: (): ReadonlyArray<any> => taken,
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections()
        server.close(() => resolve())
      })
  }
}
