/** The behavioural vectors of postel, against our receiver's rules, our sender's rules and our delivery engine. */
import { systemHost } from "@flyball/core"
import { Storage } from "@flyball/core/storage"
import { secretKeys, standardSignature, verifyDelivery, type VerifyProblem } from "@flyball/rules"
import { fromBase64, fromUtf8, portableCrypto, toBase64, utf8 } from "@flyball/evidence"
import { pinnedSender } from "@flyball/node"
import { Effect, Layer } from "effect"
import { TestClock } from "effect/testing"
import { assert, describe, it } from "vitest"
import { SecretBox } from "../../../../packages/core/src/foundation/secret-box.ts"
import { Webhooks } from "../../../../packages/core/src/outward/webhooks/service.ts"
import { engine, storedDeliveries } from "../../../../packages/core/src/outward/webhooks/testing/webhook-acts.ts"
import {
  type Arrived,
  outside,
  untilIdle,
  webhookWorld
} from "../../../../packages/core/src/outward/webhooks/testing/webhook-world.ts"
import { leftOut } from "./left-out.ts"
import {
  converted,
  type ExpectedRequest,
  type ReceiverVector,
  secretOf,
  type SenderVector,
  sources,
  type VectorEndpoint,
  vectors
} from "./vectors.ts"

const { sha256 } = portableCrypto
const run = vectors.filter(({ id }) => leftOut[id] === undefined)
const isSender = (vector: ReceiverVector | SenderVector): vector is SenderVector => "mode" in vector

describe("postel's vectors", () => {
  it("are all 62 run or excluded with a reason", () => {
    assert.strictEqual(vectors.length, 62)
    const known = new Set(vectors.map(({ id }) => id))
    assert.deepStrictEqual(
      Object.keys(leftOut).filter((id) => !known.has(id)),
      [],
      "left out, and not there"
    )
    assert.strictEqual(run.length + Object.keys(leftOut).length, 62)
  })

  it("each have a source with a digest", () => assert.sameMembers([...sources], [...converted]))

  it.each(run.filter((vector) => !isSender(vector)))("$id", (vector) => checkReceived(vector as ReceiverVector))

  it.each(run.filter(isSender).filter(({ expected }) => expected.outcome === "accept"))("$id", (vector) =>
    Effect.runPromise(Effect.scoped(checkSent(vector).pipe(Effect.provide(TestClock.layer()))))
  )

  it.each(run.filter(isSender).filter(({ expected }) => expected.outcome === "reject"))(
    "$id",
    ({ expected, triggers }) => {
      assert.strictEqual(expected.error_code, "ENDPOINT_VALIDATION")
      assert.isNotEmpty(triggers)
      for (const trigger of triggers) {
        if (trigger.op !== "register_endpoint") throw new Error(`${trigger.op} is not expected here`)
        const sender = pinnedSender({ allowHttp: trigger.endpoint.allowHttp ?? false })
        assert.isString(sender.urlProblem(trigger.endpoint.url))
        sender.close()
      }
    }
  )
})

/** Current time of the static vectors: literal in them. Unit: seconds since 1970 UTC. */
const NOW_S = 1_767_225_600
/** As the vectors say that their receiver is set up: the newer secret first. */
const RECEIVER = ["hmac_primary", "hmac_secondary"]
/** Their words for what is wrong, and ours: a signature of another form is a wrong one here. */
const words: { readonly [code: string]: ReadonlyArray<VerifyProblem> } = {
  SIGNATURE_INVALID: ["signature_wrong"],
  TIMESTAMP_TOO_OLD: ["too_old", "too_new"],
  MALFORMED_HEADER: ["header_missing", "signature_wrong"]
}

const checkReceived = ({ expected, input, secrets, signature_mode: mode }: ReceiverVector): void => {
  const body = fromBase64(input.body_b64)!
  const headers: { [name: string]: string } = Object.fromEntries(
    Object.entries(input.headers).map(([name, value]) => [name, atTime(value)])
  )
  if (mode === "computed") {
    const keys = secretKeys(secretOf(secrets[0]!.fixture), sha256)!
    headers["webhook-signature"] = standardSignature(
      keys,
      headers["webhook-id"]!,
      headers["webhook-timestamp"]!,
      body,
      sha256
    )
  }
  const found = RECEIVER.map((name) => verifyDelivery(secretOf(name), { headers, body }, NOW_S * 1_000, sha256))
  if (expected.outcome === "accept") assert.include(found, null)
  else
    for (const problem of found)
      assert.isTrue(problem !== null && words[expected.error_code!]!.includes(problem), `${problem}`)
}

/** `{{now-10m}}` as seconds. */
const atTime = (text: string): string =>
  text.replace(/^\{\{now(?:([+-])(\d+)m)?\}\}$/, (_, sign: string | undefined, minutes: string) =>
    String(NOW_S + (sign === undefined ? 0 : Number(`${sign}${minutes}`) * 60))
  )

const checkSent = Effect.fnUntraced(function* ({ expected_requests: expected, triggers }: SenderVector) {
  const there = outside()
  yield* Effect.gen(function* () {
    const ids = new Map<string, string>()
    const urls = new Map<string, string>()
    for (const trigger of triggers) {
      if (trigger.op === "register_endpoint") {
        const url = trigger.endpoint.url.replace("{{mock_receiver_url}}", "https://receiver.example")
        ids.set(trigger.as, yield* registered(url, trigger.endpoint))
        urls.set(trigger.as, url)
      } else if (trigger.op === "send") {
        yield* Storage.use((storage) =>
          storage.commit({ events: [{ type: trigger.event.type, data: trigger.event.data ?? {} }] })
        )
      } else if (trigger.op === "start_workers") yield* Layer.build(engine)
      else if (trigger.op === "wait_for") yield* untilIdle
      else throw new Error(`an act of the vector is not known: ${JSON.stringify(trigger)}`)
    }
    const arrived = [...there.arrived]
    assert.strictEqual(arrived.length, expected!.length)
    for (const one of expected!) {
      const at = arrived.findIndex(({ url }) => url === urls.get(one.endpoint))
      assert.isAtLeast(at, 0, `nothing came to ${one.endpoint}`)
      checkRequest(one, arrived.splice(at, 1)[0]!)
      if (one.attempt_status !== undefined)
        assert.deepStrictEqual(
          [one.attempt_status, (yield* storedDeliveries(ids.get(one.endpoint)!)).map(({ state }) => state)],
          ["success", ["succeeded"]]
        )
    }
  }).pipe(Effect.provide(webhookWorld(there)))
})

/** A webhook with the secret that the vector names. */
const registered = Effect.fnUntraced(function* (url: string, { signing, types }: VectorEndpoint) {
  const { id } = yield* Webhooks.use(({ create }) => create({ url, events: types as ReadonlyArray<never> }, systemHost))
  const storage = yield* Storage
  const { body, version } = (yield* storage.get("webhook_secrets", id))!
  const sealed = toBase64(yield* SecretBox.use(({ seal }) => seal(utf8(secretOf(signing!.fixture_id)), id)))
  yield* storage.commit({
    puts: [{ collection: "webhook_secrets", id, expectedVersion: version, body: { ...body, sealed } }]
  })
  return id
})

const checkRequest = (expected: ExpectedRequest, { atMs, body, headers, url }: Arrived): void => {
  const named = new Map(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
  if (expected.path !== undefined) assert.strictEqual(new URL(url).pathname, expected.path)
  for (const name of expected.headers_present ?? []) assert.isTrue(named.has(name), name)
  for (const [name, value] of Object.entries(expected.headers_match ?? {})) assert.strictEqual(named.get(name), value)
  if (expected.body_json_equals !== undefined)
    assert.deepInclude(JSON.parse(fromUtf8(body)!), expected.body_json_equals)
  if (expected.signature_verifies !== undefined)
    assert.isNull(verifyDelivery(secretOf(expected.signature_verifies.fixture_id), { headers, body }, atMs, sha256))
}
