/**
 * Floods a server: `node flood-load.ts` reads {@link Flood} as JSON from its first argument, and prints a line when the
 * first batch is answered, and what was accepted since when its standard input ends.
 */
import { Agent, request } from "node:http"
import { decisionsFrom } from "./decisions.ts"

/** The load to send, and its target. */
export interface Flood {
  readonly port: number
  readonly connections: number
  readonly of: ReadonlyArray<{ readonly key: string; readonly agentId: string }>
}

/** The result of a flood. */
export interface Flooded {
  readonly decisions: number
  readonly refused: number
  readonly ms: number
}

/** Decisions in one batch. */
const BATCH = 1_000

const { connections, of, port } = JSON.parse(process.argv[2]!) as Flood
const agent = new Agent({ keepAlive: true, maxSockets: connections })
let [made, decisions, refused] = [0, 0, 0]

/** Sends one batch; answers the status, and the seconds to wait. */
const send = ({ agentId, key }: Flood["of"][number]): Promise<readonly [status: number, waitS: number]> =>
  new Promise((resolve, reject) => {
    const body = Buffer.from(JSON.stringify({ decisions: decisionsFrom(made, BATCH) }))
    made += BATCH
    const headers = {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      "content-length": body.length
    }
    const sent = request(
      { agent, host: "127.0.0.1", port, path: `/api/v1/agents/${agentId}/decisions`, method: "POST", headers },
      (response) => {
        response.resume()
        response.once("end", () => resolve([response.statusCode!, Number(response.headers["retry-after"] ?? 0)]))
      }
    )
    sent.once("error", reject)
    sent.end(body)
  })

let startedMs = 0
process.stdin.on("end", () => {
  const flooded: Flooded = { decisions, refused, ms: performance.now() - startedMs }
  console.log(JSON.stringify(flooded))
  process.exit(0)
})
process.stdin.resume()

await Promise.all(
  Array.from({ length: connections }, async (_, index) => {
    for (;;) {
      const [status, waitS] = await send(of[index % of.length]!)
      if (startedMs === 0) {
        startedMs = performance.now()
        console.log("flooding")
      } else if (status === 201) decisions += BATCH
      else if (status === 429) refused++
      else throw new Error(`a batch was answered ${status}`)
      if (waitS > 0) await new Promise((resolve) => setTimeout(resolve, waitS * 1_000))
    }
  })
)
