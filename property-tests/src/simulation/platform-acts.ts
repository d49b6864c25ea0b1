/** Acts on platform keys, noted in the ledger. Every number is a choice of the seed. */
import { PlatformKeys, systemHost } from "@flyball/core"
import { Effect } from "effect"
import { type Act, ask, type Client, unexpected } from "./client.ts"
import { lineOf } from "./ledger.ts"

const mint: Act = Effect.fnUntraced(function* (client, turn) {
  const name = `${client.name} ${turn}`
  const line = lineOf(client.ledger.platformKeys, name, () => ({
    tries: 0,
    acknowledged: 0,
    id: null,
    key: "",
    revoked: false,
    revocations: 0
  }))
  const answer = yield* ask(
    client,
    "mint platform key",
    PlatformKeys.use((keys) =>
      keys.mint({ name, org_unit: "ops", plan: "starter", scopes: ["usage:read"] }, systemHost)
    ),
    line
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "mint platform key", answer.refusal._tag))
  line.acknowledged += 1
  line.id = answer.value.id
  line.key = answer.value.key
})

/** Some key that was acknowledged. */
const some = ({ ledger, pick }: Client) => {
  const minted = [...ledger.platformKeys.values()].filter(({ id }) => id !== null)
  return minted[pick(Math.max(1, minted.length))]
}

const revoke: Act = Effect.fnUntraced(function* (client) {
  const line = some(client)
  if (line === undefined) return
  line.revocations += 1
  const answer = yield* ask(
    client,
    "revoke platform key",
    PlatformKeys.use((keys) => keys.revoke(line.id!, systemHost))
  )
  if (answer === null) return
  if (!answer.done) return void (yield* unexpected(client, "revoke platform key", answer.refusal._tag))
  line.revoked = true
})

/** Shows a key to some host. After an acknowledged revocation none may take it; before one was tried, each must. */
const open: Act = Effect.fnUntraced(function* (client) {
  const line = some(client)
  if (line === undefined) return
  const wasRevoked = line.revoked
  const answer = yield* ask(
    client,
    "open platform key",
    PlatformKeys.use((keys) => keys.authenticate(line.key))
  )
  if (answer === null) return
  if (answer.done && wasRevoked) client.ledger.problem(`platform keys: ${line.id} is revoked, and opens`)
  if (answer.done && (answer.value.plan !== "starter" || answer.value.orgUnit !== "ops"))
    client.ledger.problem(`platform keys: ${line.id} opens with the plan ${answer.value.plan}`)
  if (!answer.done && line.revocations === 0)
    client.ledger.problem(`platform keys: ${line.id} does not open: ${answer.refusal._tag}`)
})

/** The acts by name. */
export const platformActs = {
  mintPlatformKey: mint,
  revokePlatformKey: revoke,
  openPlatformKey: open
} satisfies { readonly [name: string]: Act }
