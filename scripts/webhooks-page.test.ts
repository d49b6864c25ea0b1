/**
 * The page for receivers of webhooks: its example is one of the catalogue, and its code believes what this server sends
 * and nothing else.
 */
import { readFileSync } from "node:fs"
import { eventTypes, webhookEvents } from "@flyball/contract"
import { portableCrypto, utf8 } from "@flyball/evidence"
import { assert, describe, it } from "vitest"
import { secretKeys, secretText } from "../packages/rules/src/webhooks/secret.ts"
import { signatureHeaders } from "../packages/rules/src/webhooks/signature.ts"

const page = readFileSync(new URL("../docs/webhooks.md", import.meta.url), "utf8")

describe("docs/webhooks.md", () => {
  it("shows an envelope with existing types and members", () => {
    const shown = JSON.parse(/```json\n([^]*?)```/.exec(page)![1]!) as {
      readonly type: keyof typeof webhookEvents
      readonly data: object
    }
    assert.deepStrictEqual(Object.keys(shown.data), Object.keys(webhookEvents[shown.type].data.fields))
    for (const [, requested] of page.matchAll(/"events": (\[[^\]]*\])/g))
      assert.includeMembers([...eventTypes], JSON.parse(requested!) as Array<never>)
  })
})

type Check = (secret: string, headers: { readonly [name: string]: string }, body: Uint8Array, nowMs?: number) => boolean
const codeOf = async (name: string): Promise<Check> => {
  const [, code] = [...page.matchAll(/```js\n([^]*?)```/g)]
    .map((match) => [name, match[1]!] as const)
    .find(([, text]) => text.includes(`export const ${name} `))!
  return (
    (await import(/* @vite-ignore */ `data:text/javascript,${encodeURIComponent(code)}`)) as {
      readonly [name: string]: Check
    }
  )[name]!
}

const { sha256 } = portableCrypto
const secret = secretText(new Uint8Array(32).fill(7))
const newer = secretText(new Uint8Array(32).fill(8))
const atMs = Date.UTC(2026, 10, 21, 3)
const body = utf8(readFileSync(new URL("../fixtures/webhooks/agent.suspended.json", import.meta.url), "utf8"))
const changed = Uint8Array.from(body, (byte, at) => (at === 40 ? byte ^ 1 : byte))
const headersOf = (old: string | null = null) => {
  const signed = signatureHeaders(
    {
      current: secretKeys(old === null ? secret : newer, sha256)!,
      old: old === null ? null : { keys: secretKeys(old, sha256)!, untilMs: atMs + 1 }
    },
    { id: "evt_1", atMs, body },
    sha256
  )
  return Object.fromEntries(Object.entries(signed).map(([name, value]) => [name.toLowerCase(), value]))
}

describe("the page's code", () => {
  it("accepts a delivery, even during a rotation, and refuses a changed, old or foreign one", async () => {
    const isGenuine = await codeOf("isGenuine")
    assert.isTrue(isGenuine(secret, headersOf(), body, atMs))
    for (const known of [secret, newer]) assert.isTrue(isGenuine(known, headersOf(secret), body, atMs + 299_000))
    for (const wrong of [
      isGenuine(secret, headersOf(), changed, atMs),
      isGenuine(newer, headersOf(), body, atMs),
      isGenuine(secret, headersOf(), body, atMs + 301_000),
      isGenuine(secret, headersOf(), body, atMs - 301_000),
      isGenuine(secret, { ...headersOf(), "webhook-id": "evt_2" }, body, atMs),
      isGenuine(secret, { ...headersOf(), "webhook-timestamp": "soon" }, body, atMs),
      isGenuine(secret, {}, body, atMs)
    ])
      assert.isFalse(wrong)
  })

  it("accepts the older header with the text of the secret as key", async () => {
    const isFromPlatform = await codeOf("isFromPlatform")
    assert.isTrue(isFromPlatform(secret, headersOf(), body))
    assert.isTrue(isFromPlatform(secret, headersOf(secret), body), "the old secret until the overlap ends")
    assert.isFalse(isFromPlatform(newer, headersOf(), body))
    assert.isFalse(isFromPlatform(secret, headersOf(), changed))
    assert.isFalse(isFromPlatform(secret, {}, body))
  })
})
