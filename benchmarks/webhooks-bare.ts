/**
 * The limit of sending: the same POSTs to the same receivers by `node:http` over kept connections, without a store,
 * signatures or a check of where they go.
 */
import { Agent, request } from "node:http"

const body = Buffer.from(
  JSON.stringify({
    chain: { checkpoint: null, record_hash: `sha256:${"0".repeat(64)}`, seq: 1_000 },
    created_at: "2026-11-22T00:00:00.000Z",
    data: {},
    id: `evt_${"0".repeat(26)}`,
    type: "agent.registered"
  })
)
const headers = {
  "Content-Type": "application/json",
  "User-Agent": "Flyball-Webhooks/1",
  "X-Platform-Signature": `sha256=${"0".repeat(64)}`,
  "webhook-id": `evt_${"0".repeat(26)}`,
  "webhook-timestamp": "1795305600",
  "webhook-signature": `v1,${"0".repeat(44)}`,
  "webhook-sequence": "1",
  "X-Platform-Event": "agent.registered",
  "X-Platform-Delivery": `dlv_${"0".repeat(26)}`,
  "X-Platform-Attempt": "1",
  "Content-Length": body.length
}

/** Sends so many, `perReceiver` at once to each port. */
export const sendBare = async (ports: ReadonlyArray<number>, count: number, perReceiver: number): Promise<void> => {
  const agent = new Agent({ keepAlive: true })
  const post = (port: number): Promise<void> =>
    new Promise((resolve, reject) => {
      const sent = request({ method: "POST", host: "127.0.0.1", port, path: "/", headers, agent }, (response) =>
        response.resume().on("end", resolve)
      )
      sent.on("error", reject).end(body)
    })
  let left = count
  await Promise.all(
    ports.flatMap((port) =>
      Array.from({ length: perReceiver }, async () => {
        while (left-- > 0) await post(port)
      })
    )
  )
  agent.destroy()
}
