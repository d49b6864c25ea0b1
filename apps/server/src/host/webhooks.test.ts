import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { WebhookSettings } from "@flyball/core"
import { layerOf, memoryStorage, Storage, storageChoice } from "@flyball/core/storage"
import { Effect, Layer } from "effect"
import { afterEach, assert, beforeEach, describe, it } from "vitest"
import { readSettings } from "../settings/read.ts"
import { requireSecretsKey, webhookPorts } from "./webhooks.ts"

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "flyball-secrets-key-"))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

/** A store that names a key which this process does not have. `onRead` happens before what it names is read. */
const claimedStore = (onRead: () => void) =>
  storageChoice(
    "memory",
    Layer.effect(
      Storage,
      Effect.gen(function* () {
        const storage = yield* Storage
        yield* storage
          .commit({
            puts: [
              { collection: "secrets_keys", id: "current", expectedVersion: 0, body: { key_id: "another", proof: "" } }
            ]
          })
          .pipe(Effect.orDie)
        return {
          ...storage,
          get: (collection: string, id: string) => Effect.suspend(() => (onRead(), storage.get(collection, id)))
        }
      })
    ).pipe(Layer.provide(layerOf(memoryStorage())))
  )

const settings = (more: { readonly [name: string]: string } = {}) => {
  const environment = { FLYBALL_DATA_DIR: dir, FLYBALL_DATABASE_URL: "postgres://127.0.0.1/none", ...more }
  const read = readSettings(environment, () => assert.fail("no file is named"))
  return read.ok ? read.settings : assert.fail(read.problems.join(" "))
}

describe("a start without a key for the secrets, on a store that names one", () => {
  it("is refused, and makes none", async () => {
    const refused = await requireSecretsKey(
      settings(),
      claimedStore(() => undefined)
    ).then(
      () => null,
      (error: Error) => error.message
    )
    assert.match(
      refused ?? "",
      /in this store is not in .*secrets\.key: there is no such file\. All processes of one store/
    )
  })

  it("continues where a server that starts beside it on the same folder has made the key meanwhile", async () => {
    await requireSecretsKey(
      settings(),
      claimedStore(() => writeFileSync(join(dir, "secrets.key"), "made by the other"))
    )
  })
})

describe("what webhooks are sent with", () => {
  it.each([
    [{}, false],
    [{ FLYBALL_WEBHOOK_RETRY_AFTER: "1" }, true]
  ] as const)("follows Retry-After only where %j says so", async (more, followRetryAfter) => {
    const ports = webhookPorts(settings({ FLYBALL_DATABASE_URL: "sqlite::memory:", ...more }))
    const { schedule } = await Effect.runPromise(Effect.provide(WebhookSettings, ports))
    assert.deepStrictEqual(schedule, { base: "previous_attempt", jitter: 0, followRetryAfter })
  })
})
