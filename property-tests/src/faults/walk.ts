/** One governor, one client, one script, one fault: and everything that must hold afterwards. */
import { Capture, Chain, EvidenceCrypto, IngestKeys } from "@flyball/core"
import type { StorageChoice } from "@flyball/core/storage"
import { nodeCrypto } from "@flyball/evidence/node"
import { FaultBoard, type FaultPlan, SignLog } from "@flyball/testkit"
import { Effect, Exit, Scope } from "effect"
import { type ActName, acts } from "../simulation/acts.ts"
import { checkAll } from "../simulation/checkers/all.ts"
import { ask, type Client } from "../simulation/client.ts"
import type { Hop, Ports } from "../simulation/hop.ts"
import { Host, ORIGIN } from "../simulation/host.ts"
import { Ledger } from "../simulation/ledger.ts"
import { VirtualTime } from "../simulation/virtual-time.ts"
import { contextIn, openPorts } from "../simulation/world.ts"

/** What came of a walk past one fault. */
export interface Walked {
  readonly board: FaultBoard
  readonly ledger: Ledger
  /** What the checkers found; empty when all is well. */
  readonly problems: ReadonlyArray<string>
}

/** What the client does: each act, and the turn it says it does it in. A turn that comes again is the same content again. */
const script: ReadonlyArray<readonly [ActName, number]> = [
  ["register", 0], ["witness", 1], ["witness", 2], ["settle", 3], ["erase", 4], ["witness", 1], ["mint", 5], ["revoke", 6], ["meet", 7], ["gap", 8], ["announce", 9],
  ["sign", 10], ["export", 11], ["witness", 12], ["settle", 13], ["export", 14], ["erase", 15], ["sign", 16]
]

/** Steps of a walk that goes round in a circle. */
const MOST_STEPS = 200_000
/** The host's background looks once more before it stops. */
const AFTERWARDS_MS = 15_000
const START_AGAIN_MS = 300

/** Walks through the script under a plan, on a store of its own. */
export const walk = async (choice: StorageChoice, plan: FaultPlan): Promise<Walked> => {
  const time = new VirtualTime(() => 0)
  const log = new SignLog()
  const ledger = new Ledger()
  const board = new FaultBoard(plan)
  const scope = Scope.makeUnsafe()
  try {
    const ports = await openPorts(choice, "walk", log, scope)
    const hop: Hop = { pick: () => 0, callMs: () => 0, stallsPerMille: () => 0, board, busy: (calls) => time.wait(calls), clock: time.clock(), note: () => {}, turn: () => {} }
    await time.until(Effect.runForkWith(contextIn(time, "world"))(live(time, ports, hop, ledger)), MOST_STEPS)
    const problems = await Effect.runPromise(checkAll({ ports, origin: ORIGIN, signed: log.entries, ledger }).pipe(Effect.provideService(EvidenceCrypto, nodeCrypto)))
    return { board, ledger, problems }
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

const live = Effect.fnUntraced(function*(time: VirtualTime, ports: Ports, hop: Hop, ledger: Ledger) {
  const host = yield* started(time, ports, hop, ledger)
  // The last of everything: batches of three, references of its own, the decision that came last.
  const client = (name: string, last: boolean): Client =>
    ({ name, pick: (bound) => last ? bound - 1 : 0, ledger, call: (effect) => host.call(effect, false), note: () => {} })
  for (const [name, turn] of script) yield* acts[name](client("walker", name !== "export" || turn === 11), turn)
  yield* read(client("reader", true), ledger)
  yield* Effect.sleep(AFTERWARDS_MS)
  yield* host.stop()
})

/** A host that serves: it is started again until it does. */
const started = Effect.fnUntraced(function*(time: VirtualTime, ports: Ports, hop: Hop, ledger: Ledger) {
  for (let life = 0;; life++) {
    const host = new Host(contextIn(time, `life ${life}`))
    const opened = yield* host.open(ports, hop)
    if (opened !== null && Exit.isSuccess(opened)) return host
    const fault = opened?.cause.reasons.find((reason) => reason._tag === "Fail")?.error
    if (fault?._tag !== "StorageUnavailable") ledger.problem(`start: ${fault?.message ?? "died"}`)
    host.kill()
    yield* Effect.sleep(START_AGAIN_MS)
  }
})

/** What people read: answered like everything else. */
const read = Effect.fnUntraced(function*(client: Client, ledger: Ledger) {
  const [agentId] = [...ledger.agents.values()]
  yield* ask(client, "read keys", IngestKeys.use((keys) => keys.list))
  yield* ask(client, "read decisions", Capture.use((capture) => capture.list(agentId!)))
  yield* ask(client, "read proof", Chain.use((chain) => chain.proof(1)))
})
