/**
 * One governor over Postgres, one caller, one script, and lines that are cut: and everything that must hold afterwards.
 * In real time, with real connections.
 */
import { type Governor, GovernorError, openGovernor } from "@flyball/core"
import { layerOf, Storage, type StorageChoice, storageChoice } from "@flyball/core/storage"
import { verifyPack } from "@flyball/evidence"
import { nodeCrypto } from "@flyball/evidence/node"
import { dataFolder } from "@flyball/node"
import { postgresStorage } from "@flyball/storage-sql"
import { freshDatabase, type OpenDatabase, openDatabase } from "@flyball/testkit/postgres"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout as pause } from "node:timers/promises"
import { audit } from "../audit/audit.ts"
import { argsOf, Book, resultOf } from "../audit/book.ts"
import { type Cut, cuttingProxy } from "./cutting-proxy.ts"
import { honestCommits } from "./honest-commits.ts"

/** Result of a walk. */
export interface ConnectionWalked {
  /** Exchanges with the server until the script was over. */
  readonly exchanges: number
  readonly struck: ReadonlyArray<Cut>
  /** Questions that were put again because of a fault, by what the fault said of writing. */
  readonly again: { readonly no: number; readonly unknown: number }
  /** Sessions that the server ended. */
  readonly ended: number
}

/**
 * Walks over one database, each in a schema of its own. All of them reject with a sentence when something is not as it
 * should be.
 */
export interface ConnectionWalks {
  /** Walks past these cuts. */
  readonly past: (cuts: ReadonlyArray<Cut>) => Promise<ConnectionWalked>
  /** Walks again and again while the server ends sessions at random moments, until it has ended so many. */
  readonly whileEnding: (sessions: number) => Promise<ConnectionWalked>
  readonly close: () => Promise<void>
}

/** Pause before a question is put again. */
const AGAIN_MS = 5
/** Longest that one walk may take: a caller that waits longer for a dead connection waits for ever. */
const WALK_MS = 60_000

/** Walks of a server on which databases may be made. */
export const connectionWalks = async (serverUrl: string): Promise<ConnectionWalks> => {
  const { drop, url } = await freshDatabase(serverUrl)
  const proxy = await cuttingProxy(url)
  const database = await openDatabase(url)
  const folder = mkdtempSync(join(tmpdir(), "flyball-connections-"))
  let walks = 0

  /** One life of a governor on a store that is there or not; `goesOn` makes the script restart. */
  const walk = async (cuts: ReadonlyArray<Cut>, name: string, goesOn: () => boolean): Promise<ConnectionWalked> => {
    const schema = `walk${++walks}`
    const problems: Array<string> = []
    const book = new Book()
    const again = { no: 0, unknown: 0 }
    const keys = dataFolder({ dir: join(folder, schema), origin: "flyball.example/connections" })
    const choice = honest(
      postgresStorage({ url: proxy.url, schema, maxConnections: 3, applicationName: name }),
      database,
      schema,
      problems
    )
    proxy.plan(cuts)
    /** Puts a question until it is answered. */
    const ask = async <A>(what: string, question: () => Promise<A>): Promise<A> => {
      for (const end = performance.now() + WALK_MS; ;) {
        try {
          return await withinTime(what, question())
        } catch (error) {
          if (!(error instanceof GovernorError) || error.code !== "storage_unavailable") throw error
          again[error.message.includes("Nothing was written") ? "no" : "unknown"] += 1
          if (performance.now() > end)
            throw new Error(`${what} is not answered any more: ${error.message}`, { cause: error })
          await pause(AGAIN_MS)
        }
      }
    }
    const governor = await ask("open", () => openGovernor({ storage: choice, keys }))
    for (let turn = 0; turn === 0 || goesOn(); turn++) await script(governor, ask, book, `t${turn}`)
    const [exchanges, struck] = [proxy.exchanges(), [...proxy.struck()]]
    await withinTime("close", governor.close())
    proxy.plan([])
    await audit(book, { storage: postgresStorage({ url, schema }), keys, where: JSON.stringify(cuts), pack: false })
    if (problems.length > 0) throw new Error(problems.join("; "))
    return { exchanges, struck, again, ended: 0 }
  }

  return {
    past: (cuts) => walk(cuts, "walker", () => false),
    whileEnding: async (sessions) => {
      const name = `hunted${walks + 1}`
      const over = new AbortController()
      let ended = 0
      const hunting = (async () => {
        while (!over.signal.aborted && ended < sessions) {
          ended += (
            await database.ask(
              "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = $1::text AND " +
                "random() < 0.1",
              [name]
            )
          ).length
        }
      })()
      try {
        const walked = await walk([], name, () => ended < sessions)
        return { ...walked, ended }
      } finally {
        over.abort()
        await hunting
      }
    },
    close: async () => {
      await proxy.close()
      await database.close()
      await drop()
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

type Ask = <A>(what: string, question: () => Promise<A>) => Promise<A>

/**
 * Registers, witnesses, settles, erases, signs, exports. Each repeated request gets the same answer, and the book
 * checks it.
 */
const script = async (governor: Governor, ask: Ask, book: Book, turn: string): Promise<void> => {
  const { agent } = await ask("register", () => governor.agents.register({ name: "walker", org_unit: "ops" }))
  const batches = [["a", "b", "c"], ["d"], ["a", "b", "c"], ["e", "f"]].map((names) =>
    names.map((name) => `${turn}/${name}`)
  )
  for (const refs of batches) {
    book.sending(refs)
    const { receipts } = await ask("witness", () =>
      governor.witness(
        agent.id,
        refs.map((client_ref) => ({ client_ref, action: "act", kind: "tool_call" as const, args: argsOf(client_ref) }))
      )
    )
    for (const { client_ref, record_hash: hash, seq } of receipts)
      book.landed(book.witnessed, client_ref, { seq, hash })
    const [{ client_ref: ref, decision_id, seq }] = receipts as [(typeof receipts)[number]]
    book.settleSent.add(ref)
    const settled = await ask("settle", () => governor.settle(decision_id, { status: "ok", result: resultOf(ref) }))
    book.landed(book.settled, ref, { seq: settled.seq, hash: settled.record_hash })
    if (!ref.endsWith("d")) continue
    book.eraseSent.add(ref)
    // An earlier try that landed makes it "erased before": that is an answer too.
    const erased = await ask("erase", () =>
      governor.erase({ seq, name: "args", reason: "retention" }).catch((error: unknown) => {
        if (error instanceof GovernorError && error.code === "part_erased") return null
        throw error
      })
    )
    book.erased.set(ref, erased === null ? null : { seq: erased.seq, hash: erased.record_hash })
  }
  await ask("sign", () => governor.checkpointNow())
  const bytes = await ask("export", async () => {
    const chunks: Array<Uint8Array> = []
    for await (const chunk of governor.exportPack({ kind: "full", disclose: "all" })) chunks.push(chunk)
    return Buffer.concat(chunks)
  })
  const { verdicts } = await verifyPack(nodeCrypto, [bytes], { vkeys: [governor.chain.vkey] })
  if (verdicts.integrity !== "ok" || verdicts.authenticity !== "signed_by_pinned_key")
    book.problems.push(`the pack has the verdicts ${JSON.stringify(verdicts)}`)
}

const honest = (
  choice: StorageChoice,
  database: OpenDatabase,
  schema: string,
  problems: Array<string>
): StorageChoice =>
  storageChoice(
    choice.backend,
    Layer.effect(
      Storage,
      Effect.map(Storage, (storage) => Storage.of(honestCommits(storage, database, schema, problems)))
    ).pipe(Layer.provide(layerOf(choice)))
  )

/** Rejects when nothing comes. */
const withinTime = async <A>(what: string, answer: Promise<A>): Promise<A> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} is not answered after ${WALK_MS / 1_000} s`)), WALK_MS)
  })
  try {
    return await Promise.race([answer, late])
  } finally {
    clearTimeout(timer)
  }
}
