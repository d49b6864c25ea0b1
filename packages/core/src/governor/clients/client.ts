/** Runs effects for a host: promises in front, services behind, and an orderly end. */
import { Effect, type ManagedRuntime } from "effect"
import { Chain } from "../../chain/chain.ts"
import type { GovernorServices } from "../governor-layer.ts"
import { queueTask, isTurnFree } from "../../foundation/task-queue.ts"
import { aborted, closed, governorError, valueOrThrow } from "../../foundation/value-or-throw.ts"
import { GovernorError } from "../../foundation/governor-error.ts"
import type { CallOptions, ActOptions } from "./call-options.ts"
import { isCallersWriterId, type Writer } from "../../foundation/writer.ts"

/** The way in. */
export interface Client {
  /** The chain's name and signing key. A rotation changes the key. */
  readonly origin: string
  readonly vkey: string
  readonly run: <A>(effect: Effect.Effect<A, unknown, GovernorServices>, options?: CallOptions | null) => Promise<A>
  /**
   * Bytes that are made while they are read, again each time. Nothing starts before the first is requested; an abort
   * signal is checked before each chunk.
   */
  readonly stream: <A>(open: () => Promise<AsyncIterable<A>>, options?: CallOptions | null) => AsyncIterable<A>
  /** Counts a call that runs elsewhere; the answer counts it off again. Fails: throws `closed`. */
  readonly enter: () => () => void
  /** Reports whether `close` was called. */
  readonly isClosing: () => boolean
  readonly close: () => Promise<void>
}

/** Builds the services now, so that a misconfiguration is reported here and not at the first call. */
export const openClient = async (
  runtime: ManagedRuntime.ManagedRuntime<GovernorServices, unknown>
): Promise<Client> => {
  const opened = await runtime.runPromiseExit(Chain.use(Effect.succeed))
  if (opened._tag === "Failure") await runtime.dispose()
  const chain = valueOrThrow(opened)
  const runExit = Effect.runPromiseExitWith(await runtime.context())
  // Counted and not kept, nor run by the runtime, which keeps them: a set that thousands of calls go through leaves old
  // tables behind, each refers to the one
  // after it, and once the first is among the engine's old objects all that ever went through stays until a full
  // collection.
  let underWay = 0
  let whenIdle = (): void => undefined
  let closing: Promise<void> | null = null

  // Plain JavaScript may pass null for "no options".
  const refuseAborted = (options: CallOptions | null | undefined): void => {
    if (options?.signal?.aborted === true) throw aborted()
  }

  const run: Client["run"] = async (effect, options) => {
    if (closing !== null) throw closed()
    // An aborted signal does not stop an effect that needs no turn of the loop to finish.
    refuseAborted(options)
    underWay++
    try {
      // A host that works off a list, or was held up, makes hundreds of calls in a row.
      if (!isTurnFree()) {
        await new Promise<void>(queueTask)
        refuseAborted(options)
      }
      return valueOrThrow(await runExit(effect, options?.signal === undefined ? {} : { signal: options.signal }))
    } finally {
      if (--underWay === 0) whenIdle()
    }
  }

  const read = async function* <A>(
    open: () => Promise<AsyncIterable<A>>,
    options: CallOptions | null | undefined
  ): AsyncGenerator<A> {
    const chunks = await open()
    try {
      for await (const chunk of chunks) {
        if (closing !== null) throw closed()
        refuseAborted(options)
        yield chunk
      }
    } catch (error) {
      throw error instanceof GovernorError ? error : governorError(error)
    }
  }
  const stream: Client["stream"] = (open, options) => ({ [Symbol.asyncIterator]: () => read(open, options) })

  const enter: Client["enter"] = () => {
    if (closing !== null) throw closed()
    underWay++
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--underWay === 0) whenIdle()
    }
  }

  const close: Client["close"] = () => {
    closing ??= new Promise<void>((resolve) => {
      whenIdle = resolve
      if (underWay === 0) resolve()
    }).then(() => runtime.dispose())
    return closing
  }

  return {
    origin: chain.origin,
    get vkey() {
      return chain.vkey
    },
    run,
    stream,
    enter,
    isClosing: () => closing !== null,
    close
  }
}

/** Runs an act in the name of the call's writer. */
export type Acting = <A>(
  act: (writer: Writer) => Effect.Effect<A, unknown, GovernorServices>,
  options?: ActOptions | null
) => Promise<A>

/** Acts over a client; `own` is the writer of calls that name none. */
export const acting =
  ({ run }: Client, own: Writer): Acting =>
  async (act, options) =>
    run(act(writerOf(own, options?.writer)), options)

/** The writer of this id. Fails: throws `GovernorError` with `invalid_writer`. */
export const writerOf = (own: Writer, id: string | null | undefined): Writer => {
  if (id === undefined || id === null) return own
  if (!isCallersWriterId(id))
    throw new GovernorError(
      "invalid_writer",
      "The writer is expected to be `system:` and 1 to 64 of a-z, 0-9, _ and -, or an id `key_…` or `usr_…`. " +
        "Names of people do not belong there."
    )
  return { id }
}
