/**
 * A process that captures, settles, erases and signs from several callers at once until it is killed, and prints each
 * request and answer.
 *
 * Arguments: storage as JSON (`{"sqlite": file}` or `{"postgres": url}`), data folder, number of the round, acts after
 * which it closes in order (0: never).
 * One line on standard output for each thing, written before anybody continues: `stage NAME`, `ask ACT REF…`, `done ACT
 * REF SEQ HASH`, `vouched SIZE ROOT`.
 */
import { writeSync } from "node:fs"
import { setTimeout as pause } from "node:timers/promises"
import { Guard, type KeysChoice, keysChoice, keysLayerOf, openGovernor, Signer } from "@flyball/core"
import { fromUtf8, parseCheckpoint, toHex } from "@flyball/evidence"
import { dataFolder } from "@flyball/node"
import { Effect, Layer } from "effect"
import { argsOf, resultOf } from "../audit/book.ts"
import { type StoreAt, storageAt } from "./store-at.ts"

/** Name of the one agent of these tests. */
export const AGENT = "crash-bot"
/** The chain's name. */
export const ORIGIN = "flyball.example/crash"

const CALLERS = 8
/** Pause between two requested signatures; erasures cause more. */
const SIGN_AGAIN_MS = 10
/** How long it waits for a reader that is behind. Unit: milliseconds. */
const READER_BEHIND_MS = 1
const waiting = new Int32Array(new SharedArrayBuffer(4))

/** The pipe does not block: while its reader is behind it takes a part of the line, or nothing. */
const say = (line: string): void => {
  for (let rest = Buffer.from(`${line}\n`); rest.length > 0;) {
    try {
      rest = rest.subarray(writeSync(1, rest))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") throw error
      Atomics.wait(waiting, 0, 0, READER_BEHIND_MS)
    }
  }
}

/**
 * Wraps keys so that they print a line for each checkpoint that is about to be guarded, and for each that was signed:
 * before anybody can have seen it.
 */
const telling = (keys: KeysChoice): KeysChoice =>
  keysChoice(
    keys.keysKind,
    Layer.mergeAll(
      Layer.effect(
        Guard,
        Effect.map(Guard, (guard) =>
          Guard.of({
            ...guard,
            advance: (from, to) =>
              Effect.suspend(() => {
                say("stage signing")
                return Effect.tap(guard.advance(from, to), (moved) =>
                  Effect.sync(() => (moved ? say(`vouched ${to.size} ${to.rootHex}`) : undefined))
                )
              })
          })
        )
      ),
      Layer.effect(
        Signer,
        Effect.map(Signer, (signer) =>
          Signer.of({
            ...signer,
            sign: (message) =>
              Effect.tap(signer.sign(message), () =>
                Effect.sync(() => {
                  const read = parseCheckpoint(fromUtf8(message) ?? "")
                  if (read.ok && read.checkpoint.origin === ORIGIN)
                    say(`vouched ${read.checkpoint.size} ${toHex(read.checkpoint.root)}`)
                })
              )
          })
        )
      )
    ).pipe(Layer.provide(keysLayerOf(keys)))
  )

const main = async (at: StoreAt, dir: string, round: number, closeAfter: number): Promise<void> => {
  say("stage opening")
  const governor = await openGovernor({ storage: storageAt(at), keys: telling(dataFolder({ dir, origin: ORIGIN })) })
  const { agent } = await governor.agents.register({ name: AGENT, org_unit: "crash" })
  let acts = 0
  const done = (line: string): void => {
    say(`done ${line}`)
    acts += 1
  }
  const goesOn = (): boolean => closeAfter === 0 || acts < closeAfter
  const caller = async (number: number): Promise<void> => {
    for (let index = 0; goesOn(); index++) {
      const refs = Array.from({ length: 1 + (index % 3) }, (_, item) => `r${round}/c${number}/${index}/${item}`)
      say(`ask witness ${refs.join(" ")}`)
      const { receipts } = await governor.witness(
        agent.id,
        refs.map((client_ref) => ({
          client_ref,
          action: "refund",
          kind: "tool_call" as const,
          args: argsOf(client_ref)
        }))
      )
      for (const receipt of receipts) done(`witness ${receipt.client_ref} ${receipt.seq} ${receipt.record_hash}`)
      const [first] = receipts
      const ref = first!.client_ref
      if (index % 4 === 1) {
        say(`ask settle ${ref}`)
        const settled = await governor.settle(first!.decision_id, { status: "ok", result: resultOf(ref) })
        done(`settle ${ref} ${settled.seq} ${settled.record_hash}`)
      }
      if (index % 7 === 3) {
        say(`ask erase ${ref}`)
        const { record_hash, seq } = await governor.erase({ seq: first!.seq, name: "args", reason: "retention" })
        done(`erase ${ref} ${seq} ${record_hash}`)
      }
    }
  }
  /**
   * Signs whenever there is something new. A caller of its own: after a kill it waits for the dead process's lease, and
   * the others need not.
   */
  const signer = async (): Promise<void> => {
    for (let signed = -1; goesOn();) {
      if (signed < acts) {
        signed = acts
        await governor.checkpointNow()
        say("stage working")
      }
      await pause(SIGN_AGAIN_MS)
    }
  }
  say("stage working")
  await Promise.all([signer(), ...Array.from({ length: CALLERS }, (_, number) => caller(number))])
  say("stage closing")
  await governor.close()
  say("stage closed")
}

if (process.argv[1] === new URL(import.meta.url).pathname) {
  const [, , at, dir, round, closeAfter] = process.argv
  await main(JSON.parse(at!) as StoreAt, dir!, Number(round), Number(closeAfter))
}
