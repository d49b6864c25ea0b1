/**
 * One rotation of the signing key, one moment at which the process dies or meets a fault, and what the next process
 * makes of it.
 */
import { createPublicKey, verify } from "node:crypto"
import {
  Agents,
  ephemeralKeys,
  EvidenceCrypto,
  Guard,
  KeyRotation,
  type KeysChoice,
  keysLayerOf,
  Signer
} from "@flyball/core"
import { Entropy, layerOf, Storage, type StorageChoice } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { FaultBoard, type FaultKind, SignLog, seededSource, signProblems } from "@flyball/testkit"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import { chainChecker } from "../simulation/checkers/chain.ts"
import type { Hop, Ports } from "../simulation/hop.ts"
import { Host, ORIGIN } from "../simulation/host.ts"
import { VirtualTime } from "../simulation/virtual-time.ts"
import { contextIn } from "../simulation/world.ts"

/** Fault at the `call`-th call to any port after the rotation was requested. */
export interface Strike {
  readonly call: number
  readonly kind: FaultKind
  /** True when the process dies of it. Else its client asks again. */
  readonly kills: boolean
}

/** Result of the walk. */
export interface RotationWalked {
  /** The port that was struck; null when there were fewer calls. */
  readonly struck: string | null
  /** How many rotations the records hold before another was requested. */
  readonly rotations: number
  readonly problems: ReadonlyArray<string>
}

const MOST_STEPS = 100_000
/** The background of the next process polls every second, and again ten seconds after a fault. */
const AFTERWARDS_MS = 25_000

/** Rotates under one strike, lets the next process run and stop, and rotates once more. */
export const walkRotation = async (
  choice: StorageChoice,
  strike: Strike,
  keys: KeysChoice = ephemeralKeys()
): Promise<RotationWalked> => {
  const time = new VirtualTime(() => 0)
  const log = new SignLog()
  const scope = Scope.makeUnsafe()
  const reported: { host: Host | null; struck: string | null; calls: number; armed: boolean } = {
    host: null,
    struck: null,
    calls: 0,
    armed: false
  }
  const board = new FaultBoard((point) => {
    if (!reported.armed || ++reported.calls !== strike.call) return null
    reported.struck = point
    if (strike.kills) reported.host?.kill()
    return strike.kind
  })
  const hop: Hop = {
    pick: () => 0,
    callMs: () => 0,
    stallsPerMille: () => 0,
    board,
    busy: (calls) => time.wait(calls),
    clock: time.clock(),
    note: () => {},
    turn: () => {}
  }
  /** Files and databases have a time of their own: the world waits for them. */
  const outside = <A, E>(read: Effect.Effect<A, E>): Effect.Effect<A, E> =>
    Effect.suspend(() => {
      hop.busy(1)
      return Effect.ensuring(
        read,
        Effect.sync(() => hop.busy(-1))
      )
    })
  try {
    const ports = await open(choice, keys, log, scope)
    const live = Effect.gen(function* () {
      const first = (reported.host = yield* started(time, ports, hop))
      yield* orDie(
        first.call(
          Agents.use((agents) => agents.register({ name: "bot", org_unit: "claims" }, { id: "system:test" })),
          true
        )
      )
      reported.armed = true
      for (let attempt = 0; attempt < 3; attempt++) {
        const ended = yield* first.call(
          KeyRotation.use(({ rotate }) => rotate),
          true
        )
        if (ended === null || Exit.isSuccess(ended)) break
      }
      if (!strike.kills) yield* first.stop()
      reported.armed = false
      const second = yield* started(time, ports, hop)
      yield* Effect.sleep(AFTERWARDS_MS)
      const before = yield* outside(storedKeys(ports))
      const problems = yield* outside(problemsOf(ports, before))
      yield* orDie(
        second.call(
          KeyRotation.use(({ rotate }) => rotate),
          true
        )
      )
      yield* second.stop()
      const after = yield* outside(storedKeys(ports))
      if (after.length !== before.length + 1)
        problems.push(`another rotation left ${after.length} keys after ${before.length}`)
      problems.push(...(yield* outside(problemsOf(ports, after))))
      return { rotations: before.length - 1, problems }
    }).pipe(Effect.orDie)
    const fiber = Effect.runForkWith(contextIn(time, "world"))(live)
    await time.until(fiber, MOST_STEPS)
    const exit = fiber.pollUnsafe()
    if (exit === undefined || Exit.isFailure(exit))
      return {
        struck: reported.struck,
        rotations: -1,
        problems: [`died: ${exit === undefined ? "?" : String(exit.cause)}`]
      }
    const ofChain = await Effect.runPromise(
      chainChecker({
        ports,
        origin: ORIGIN,
        records: await Effect.runPromise(ports.storage.records({ limit: 1_000 }))
      } as unknown as Parameters<typeof chainChecker>[0])
    )
    return {
      struck: reported.struck,
      rotations: exit.value.rotations,
      problems: [...exit.value.problems, ...ofChain, ...signProblems(log.entries)]
    }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const open = (choice: StorageChoice, keys: KeysChoice, log: SignLog, scope: Scope.Scope): Promise<Ports> =>
  Layer.buildWithScope(Layer.mergeAll(layerOf(choice), keysLayerOf(keys)), scope).pipe(
    Effect.map((context) => ({
      storage: Context.get(context, Storage),
      guard: log.guard(Context.get(context, Guard)),
      signer: log.signer(Context.get(context, Signer))
    })),
    Effect.provideContext(
      Context.empty().pipe(Context.add(Entropy, seededSource("rotation")), Context.add(EvidenceCrypto, nodeCrypto))
    ),
    Effect.runPromise
  )

const orDie = <A, E>(call: Effect.Effect<Exit.Exit<A, E> | null>): Effect.Effect<A> =>
  Effect.flatMap(call, (ended) => (ended === null ? Effect.die(new Error("the host ended")) : Effect.orDie(ended)))

const started = Effect.fnUntraced(function* (time: VirtualTime, ports: Ports, hop: Hop) {
  const host = new Host(contextIn(time, "life"))
  const opened = yield* host.open(ports, hop)
  if (opened === null || Exit.isFailure(opened))
    return yield* Effect.die(new Error(`the start was refused: ${opened === null ? "killed" : String(opened.cause)}`))
  return host
})

interface Key {
  readonly seq: number
  readonly vkey: string
}

/** The keys that the records name, read without our own reader. */
const storedKeys = Effect.fnUntraced(function* ({ storage }: Ports) {
  const keys: Array<Key> = []
  for (const { bytes, kind, seq } of yield* storage.records({ limit: 1_000 })) {
    const { body } = JSON.parse(new TextDecoder().decode(bytes)) as {
      readonly body: { readonly vkeys: ReadonlyArray<string>; readonly to_vkey: string }
    }
    if (kind === "chain.genesis") keys.push({ seq, vkey: body.vkeys[0]! })
    if (kind === "key.rotated") keys.push({ seq, vkey: body.to_vkey })
  }
  return keys
})

/**
 * Every stored checkpoint has the signatures it must have, and the signer holds what the chain names and nothing older.
 */
const problemsOf = Effect.fnUntraced(function* ({ signer, storage }: Ports, keys: ReadonlyArray<Key>) {
  const problems: Array<string> = []
  let covered = 0
  for (const { body, id } of yield* storage.list("checkpoints")) {
    if (id === "latest") continue
    const size = Number(body["size"])
    const fresh = keys.flatMap(({ seq }, index) =>
      seq > 0 && seq >= covered && seq < size ? [keys[index - 1]!.vkey, keys[index]!.vkey] : []
    )
    for (const vkey of new Set([...fresh, keys.findLast(({ seq }) => seq < size)!.vkey])) {
      if (!isSignedBy(String(body["note"]), vkey))
        problems.push(`the checkpoint of ${size} records lacks a signature by ${vkey}`)
    }
    covered = size
  }
  if (covered <= keys.at(-1)!.seq) problems.push(`no checkpoint covers the rotation in record ${keys.at(-1)!.seq}`)
  const held = yield* signer.rotation!.keys
  if (!sameKey(held.current.publicKey, keys.at(-1)!.vkey))
    problems.push("the current key is not the one that the chain names")
  if (held.next !== null && keys.some(({ vkey }) => sameKey(held.next!.publicKey, vkey)))
    problems.push("the next key is one that the chain names already")
  return problems
})

const rawKey = (vkey: string): Buffer => Buffer.from(vkey.split("+").slice(2).join("+"), "base64").subarray(1)

const sameKey = (publicKey: Uint8Array, vkey: string): boolean => rawKey(vkey).equals(publicKey)

/** By OpenSSL, over bytes that were cut out by hand: a second opinion. */
const isSignedBy = (note: string, vkey: string): boolean => {
  const [text, lines] = note.split("\n\n") as [string, string]
  const key = createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: rawKey(vkey).toString("base64url") },
    format: "jwk"
  })
  return lines
    .trimEnd()
    .split("\n")
    .some((line) => verify(null, Buffer.from(`${text}\n`), key, Buffer.from(line.split(" ")[2]!, "base64").subarray(4)))
}
