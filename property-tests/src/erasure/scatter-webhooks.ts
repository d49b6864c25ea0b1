/**
 * A person's text at a webhook: its address, what is said of it, whom a letter goes to, and what the receiver answers.
 */
import { type Call, expecting, type Marker } from "./person.ts"
import { subscribableTypes } from "@flyball/contract"

interface Hook {
  readonly id: string
  readonly status: string
}

interface Delivery {
  readonly id: string
  readonly state: string
}

/**
 * Creates a webhook that gets every event. Answers a function that makes a delivery fail seven times, which ends in a
 * letter.
 */
export const scatterWebhooks = async (
  call: Call,
  { plain, text }: Marker,
  failing: string
): Promise<() => Promise<void>> => {
  const done = expecting(call)
  const url = `${failing}/${encodeURIComponent(text)}?of=${plain}`
  const { id } = await done<Hook>(
    "POST",
    "/webhooks",
    { url, events: subscribableTypes, description: text, notify_email: `${plain}@example.com` },
    201
  )
  const at = `/webhooks/${id}`
  await done("POST", "/webhooks", { url: `https://example.com/${text}\u0000`, events: [text], description: text }, 422)
  await done("POST", `${at}/test`, undefined, 200)
  await done("POST", `${at}/rotate-secret`, {}, 200)
  return async () => {
    const untilMs = Date.now() + 60_000
    while ((await done<Hook>("GET", at, undefined, 200)).status === "active") {
      if (Date.now() > untilMs) throw new Error("The webhook was to fail within a minute.")
      const deliveries = await done<ReadonlyArray<Delivery>>("GET", `${at}/deliveries?limit=1000`, undefined, 200)
      // The first delivery: each requested attempt is the next of its seven.
      const first = deliveries.at(-1)
      if (first?.state === "pending") await call("POST", `${at}/deliveries/${first.id}/redeliver`)
    }
  }
}
